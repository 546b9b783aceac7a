#!/bin/sh
# Bad inputs, their messages and exit codes: tests/bad/*.cases, replayed by tests/bad.py.  bad.sh PROGRAM [update] [PATTERN]
exec /usr/bin/python3 "$(dirname "$0")/bad.py" "$@"
