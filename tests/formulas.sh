#!/bin/sh
# `cosweep explain --formulas` adds up to what `explain` says, over the worked candidates: tests/formulas.sh PROGRAM
exec /usr/bin/python3 -B "$(dirname "$0")/formulas.py" "$1"
