#!/bin/sh
# Every bad study must be refused with exactly the messages beside it and exit code 2.
# usage: bad.sh PROGRAM [--write]      --write records what PROGRAM says
#   bad/NAME.yaml      the study; none where a missing file is the point
#   bad/NAME.set       overrides, one a line
#   bad/NAME.expected  standard error
program=$(realpath "$1") || exit 2
cd "$(dirname "$0")/bad" || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
record=$2
failed=0
for expected in *.expected; do
    name=${expected%.expected}
    set -- size "$name.yaml"
    if [ -f "$name.set" ]; then
        while IFS= read -r line; do
            set -- "$@" --set "$line"
        done < "$name.set"
    fi
    LC_ALL=C "$program" "$@" > "$work/stdout" 2> "$work/stderr"
    code=$?
    if [ "$record" = --write ]; then
        cp "$work/stderr" "$expected"
    fi
    if [ $code -ne 2 ] || [ -s "$work/stdout" ] || ! diff -u "$expected" "$work/stderr"; then
        echo "FAILED: $name (exit code $code)"
        failed=1
    fi
done
for study in *.yaml; do
    if [ ! -f "${study%.yaml}.expected" ]; then
        echo "FAILED: $study has no ${study%.yaml}.expected"
        failed=1
    fi
done
exit $failed
