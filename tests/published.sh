#!/bin/sh
# Errors against published measurements may not grow: tests/published.sh PROGRAM
exec /usr/bin/python3 "$(dirname "$0")/published.py" "$1"
