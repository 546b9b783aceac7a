#!/bin/sh
# The report of a result in a real browser: what it shows equals the file and `explain`, rows sort, filter, pin and move
# every panel, nothing goes to the console or the network, and 1,000 rows and 20,000 points are there.
# Skipped where node, Chromium, echarts or playwright-core are not installed: scripts/install.sh report.
set -eu

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
modules=$root/scripts/report/node_modules
for what in node chromium; do
    command -v $what >/dev/null || { echo "report.sh: no $what: skipped; scripts/install.sh report installs it"; exit 77; }
done
for what in echarts playwright-core; do
    [ -d "$modules/$what" ] || { echo "report.sh: no $what: skipped; scripts/install.sh report installs it"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

report() { # FOLDER RESULT, then options
    folder=$1 result=$2
    shift 2
    "$root/scripts/report.py" "$result" --cosweep "$program" -o "$folder" --no-pictures "$@" 2>/dev/null
}

cp "$root/tests/transcripts/small.yaml" small.yaml
"$program" run small.yaml -o small.h5 --progress none >/dev/null
"$program" run small.yaml --set hardware.pe.hbm_bandwidth=256GB/s -o old.h5 --progress none >/dev/null
report same small.h5
sed 's/^limits.*/limits: {pes: 32}/' small.yaml >changed.yaml
report changed small.h5 --previous old.h5 --study changed.yaml
"$program" run "$root/configs/llama70b-decode-128k.yaml" --set 'objectives=[latency, cost, throughput]' --set plan.pp=1 \
    --set plan.dp=1 --set plan.tp_placement=pe --set plan.kv_mode=split_seq \
    --set 'hardware.pe.hbm_capacity=[2 GB, 3 GB, 4.5 GB]' \
    -o large.h5 --progress none >/dev/null
report large large.h5 --rows 1000
"$program" run small.yaml --set limits.latency=1ns -o none.h5 --progress none >/dev/null 2>&1 || [ $? = 3 ]
report none none.h5

"$program" show small.h5 --json >show.json
"$program" explain small.h5 --scenario prefill-4k --row 2 --json >explain.json
"$program" compare old.h5 small.h5 --results --json >compare.json || true
/usr/bin/python3 - <<'EOF' >file.json
import h5py, json
group = h5py.File("small.h5")["scenarios/decode-8k"]
row = group.attrs["best_row"]
names = group["doubling/knob"].attrs["flag_meanings"].split()
print(json.dumps({
    "kept": dict(zip(names, group["doubling/plan_kept"][row].tolist())),
    "chosen": dict(zip(names, group["doubling/plan_chosen"][row].tolist())),
    "elasticity": group["elasticity/share"][row].tolist(),
    "tp": [[int(value), latency] for value, latency, reason in zip(group["parallelism/tp/value"][:],
           group["parallelism/tp/latency"][row].tolist(), group["parallelism/tp/reason"][row]) if reason == 0],
    "effects": {knob: float(effect.attrs["variance_share"]) for knob, effect in group["main_effects"].items()}}))
EOF
NODE_PATH=$modules node "$root/tests/report.mjs" "$work"

# The study file that the page offers for a row is that row, bit for bit.
"$program" explain copied.yaml --json >copied.json
/usr/bin/python3 - <<'EOF'
import json
copied, row = (json.load(open(name)) for name in ("copied.json", "explain.json"))
assert copied["latency_s"] == row["latency_s"] and copied["cost"] == row["cost"], (copied["latency_s"], row["latency_s"])
EOF
