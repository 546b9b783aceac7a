#!/bin/sh
# The studies of configs/: each is valid, says what it is for and has its lines in configs/README.md; the small ones run, and
# every scenario of them has a Pareto set: tests/configs.sh PROGRAM
set -u

program=$1
configs=$(cd "$(dirname "$0")/../configs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
small=4000000 # distinct candidates of all scenarios
ran=0

fail() {
    echo "configs.sh: $*" >&2
    failed=1
}

for study in "$configs"/*.yaml; do
    name=$(basename "$study" .yaml)
    "$program" size "$study" >"$work/size.txt" || { fail "$name: size fails"; continue; }
    grep -q "^study: $name\$" "$study" || fail "$name: the study has another name than its file"
    head -n 1 "$study" | grep -q '^# ' || fail "$name: does not say what it is for"
    grep -q "\`$name.yaml\`\|configs/$name.yaml" "$configs/README.md" || fail "$name: not in configs/README.md"
    [ "$(awk '$1 == "distinct" { n += $2 } END { printf "%.0f", n }' "$work/size.txt")" -le $small ] || continue

    ran=$((ran + 1))
    "$program" run "$study" -o "$work/$name.h5" --progress none >/dev/null || { fail "$name: run fails"; continue; }
    "$program" show "$work/$name.h5" --csv --columns latency >"$work/rows.csv" || fail "$name: show fails"
    for scenario in $(awk '$1 == "scenario" { print $2 }' "$work/size.txt"); do
        grep -q "^$scenario," "$work/rows.csv" || fail "$name: $scenario has no rows"
    done
done
[ $ran -ge 4 ] || fail "only $ran studies are small enough to run"
exit $failed
