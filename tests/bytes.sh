#!/bin/sh
# Damaged HDF5 files are read or refused, never followed into a crash: tests/bytes.sh PROGRAM
set -eu
/usr/bin/python3 "$(dirname "$0")/fuzz/bytes.py" "$1" --runs 100 --seed 1
# HDF5 asks for 1.6 GB, lives without and reports it: the process that reads after the child was given them once.
/usr/bin/python3 "$(dirname "$0")/fuzz/bytes.py" "$1" --runs 32 --seed 1796071840412936115
