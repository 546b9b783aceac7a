#!/bin/sh
# The README's lines of Python read a result, and all of them read the same.
set -eu

program=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$program" run "$here/transcripts/small.yaml" -o "$work/small.h5" --progress none >/dev/null
/usr/bin/python3 "$here/reading.py" "$work/small.h5"
