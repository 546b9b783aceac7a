#!/bin/sh
# `cosweep evaluate` against 200 worked candidates, and against a naive twin on random ones: tests/golden.sh PROGRAM
exec /usr/bin/python3 -B "$(dirname "$0")/golden.py" "$1"
