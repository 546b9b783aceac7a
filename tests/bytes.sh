#!/bin/sh
# Damaged HDF5 files are read or refused, never followed into a crash: tests/bytes.sh PROGRAM
exec /usr/bin/python3 "$(dirname "$0")/fuzz/bytes.py" "$1" --runs 100 --seed 1
