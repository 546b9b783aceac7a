#!/bin/sh
# A row that is exported is the same candidate: over studies of every phase, `explain` of the study that `export` writes says
# what `explain` of the row says, byte for byte, and its own sweep has that one row: tests/export.sh PROGRAM
set -u

program=$1
studies=$(cd "$(dirname "$0")/data/studies" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0
rows=0

fail() {
    echo "export.sh: $*" >&2
    failed=1
}

for study in "$studies"/*.yaml; do
    name=$(basename "$study" .yaml)
    "$program" run "$study" -o "$work/$name.h5" --progress none >/dev/null || fail "$name: run fails"
    "$program" show "$work/$name.h5" --csv --columns latency >"$work/rows.csv"
    for row in 0 1 best; do
        scenario=$(sed -n '2s/,.*//p' "$work/rows.csv")
        [ "$row" = best ] || [ "$(grep -c "^$scenario," "$work/rows.csv")" -gt "$row" ] || continue
        "$program" export "$work/$name.h5" --row "$row" -o "$work/row.yaml" --force || fail "$name row $row: export fails"
        "$program" explain "$work/$name.h5" --row "$row" --json >"$work/row.json"
        "$program" explain "$work/row.yaml" --json >"$work/exported.json"
        cmp "$work/row.json" "$work/exported.json" || fail "$name row $row: explain differs"
        "$program" run "$work/row.yaml" -o "$work/row.h5" --force --progress none >/dev/null ||
            fail "$name row $row: run fails"
        "$program" compare "$work/$name.h5:$row" "$work/row.h5:0" --csv >"$work/compared.csv"
        awk -F, 'NR > 1 && $(NF-2) != $(NF-1) { print; bad = 1 } END { exit bad }' "$work/compared.csv" ||
            fail "$name row $row: the sweep of the exported study differs"
        rows=$((rows + 1))
    done
done
[ "$rows" -ge 10 ] || fail "only $rows rows were tried"
echo "export: $rows rows"
exit $failed
