#!/bin/sh
# configs/README.md is what a result holds, no less and no more: tests/schema.sh PROGRAM
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# All that can be asked for; then a model that is imported with a warning; then nothing.
"$1" run "$here/transcripts/small.yaml" -o "$work/all.h5" --progress none --set depth=two_stage \
    --set hardware.pe.hbm_bandwidth=auto --set 'joint={against: [cost, pes]}' --set population.full=true \
    >/dev/null
"$1" run "$here/transcripts/small.yaml" -o "$work/imported.h5" --progress none \
    --set "scenarios.0.model=$here/data/hf/gpt-oss-20b.json" >/dev/null
"$1" run "$here/transcripts/small.yaml" -o "$work/least.h5" --progress none --set search=pruned \
    --set 'population={sample: 0}' \
    --set 'sensitivity={doubling: false, elasticity: false, main_effects: false, parallelism: {cp: 0}}' >/dev/null
/usr/bin/python3 -B "$here/schema.py" "$here/../configs/README.md" "$work/all.h5" "$work/imported.h5" "$work/least.h5"
