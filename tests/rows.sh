#!/bin/sh
# `explain RESULT --row N` says the numbers of that row to the bit, for every kind of study, and `show --json` those of the
# joint front: tests/rows.sh PROGRAM
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
for study in decode prefill serve stages; do
    "$1" run "$here/data/studies/$study.yaml" -o "$work/$study.h5" --progress none >/dev/null
done
"$1" run "$here/data/studies/grid.yaml" --set search=pruned -o "$work/grid.h5" --progress none >/dev/null
"$1" run "$here/data/studies/serve.yaml" --set joint.metric=latency --set 'joint.against=[cost]' -o "$work/joint.h5" \
    --progress none >/dev/null
/usr/bin/python3 -B - "$1" "$work"/*.h5 <<'END_OF_PYTHON'
import json
import subprocess
import sys

import h5py

program, *paths = sys.argv[1:]
METRICS = ["latency", "throughput", "pes", "energy_per_token", "power", "cost", "efficiency"]
differences = []
for path in paths:
    with h5py.File(path, "r") as result:
        for name, scenario in result["scenarios"].items():
            pareto = scenario["pareto"]
            n = len(pareto["id"])
            for row in sorted({0, n // 2, n - 1}):
                words = [program, "explain", path, "--scenario", name, "--row", str(row), "--json"]
                answer = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
                differences += [f"{path} {name} row {row}: {metric} is {pareto[metric][row]!r}, explain: {answer[metric]!r}"
                                for metric in METRICS if answer[metric] != pareto[metric][row]]
                if not answer["fits"]:
                    differences.append(f"{path} {name} row {row}: explain says it does not fit")
        if "joint" not in result:
            continue
        shown = json.loads(subprocess.run([program, "show", path, "--json"], check=True, capture_output=True, text=True).stdout)
        joint, rows = result["joint"], shown["joint"]["rows"]
        assert len(rows) == len(joint["row"]) > 0
        for name, values in [("mean", [row["mean"] for row in rows]), ("cost", [row["cost"] for row in rows])] + [
                (f"scenarios/{name}/latency", [row["choices"][name]["latency"] for row in rows]) for name in result["scenarios"]]:
            differences += [f"{path} joint: show says another {name}"] * (joint[name][:].tolist() != values)
print("\n".join(differences[:20]), end="\n" if differences else "")
sys.exit(1 if differences else 0)
END_OF_PYTHON
