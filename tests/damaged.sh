#!/bin/sh
# A result that was tampered with is refused by one message that names what is wrong, exit code 2, and no crash; one that
# was only repacked is read: tests/damaged.sh PROGRAM
set -eu

program=$1
data=$(cd "$(dirname "$0")/transcripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$program" run "$data/small.yaml" -o "$work/whole.h5" --progress none --set 'joint={against: [cost]}' >/dev/null
h5repack -f SHUF -f GZIP=9 "$work/whole.h5" "$work/packed.h5"
for form in --csv --json; do
    "$program" show $form --columns all "$work/whole.h5" >"$work/whole"
    "$program" show $form --columns all "$work/packed.h5" | cmp - "$work/whole"
done
/usr/bin/python3 - "$program" "$work" <<'PYTHON'
import shutil
import subprocess
import sys

import h5py
import numpy

program, work = sys.argv[1:]
SCENARIO = "scenarios/decode-8k/"


def replace(path, value):
    def damage(result):
        del result[path]
        if value is not None:
            result[path] = value
    return damage


def huge(path):
    def damage(result):
        del result[path]
        result.create_dataset(path, (10**9,), "i8", chunks=(1000,))
    return damage


def element(path, value):
    def damage(result):
        result[path][(0,) * result[path].ndim] = value
    return damage


def attribute(path, name, value):
    def damage(result):
        del result[path].attrs[name]
        if value is not None:
            result[path].attrs[name] = value
    return damage


# What stands in another file is not read: that may be a pipe.
def elsewhere(path):
    def damage(result):
        shape = result[path].shape
        del result[path]
        result.create_dataset(path, shape, "f8", external=[(work + "/whole.h5", 0, shape[0] * 8)])
    return damage


def virtual(path):
    def damage(result):
        layout = h5py.VirtualLayout(result[path].shape, "f8")
        layout[:] = h5py.VirtualSource(work + "/whole.h5", path, layout.shape)
        del result[path]
        result.create_virtual_dataset(path, layout)
    return damage


# Pairs, not a dict: a message that is there twice would lose a case.
DAMAGES = [
    ("`reason` is not a table of known codes", element(SCENARIO + "parallelism/cp/reason", 99)),
    ("`stage_bound` is not a table of known codes", element(SCENARIO + "pareto/stage_bound", -1)),
    ("`kv_mode` is not a column of known codes", element(SCENARIO + "pareto/kv_mode", 3)),
    ("cannot read `bin_b`", replace(SCENARIO + "histogram_latency_cost/bin_b", None)),
    ("`bin_a` is not of a length", replace(SCENARIO + "histogram_latency_cost/bin_a", numpy.arange(2000.0))),
    ("`plan_kept` is not as long", replace(SCENARIO + "doubling/plan_kept", numpy.zeros((2, 2)))),
    ("`share` is not a table of numbers", replace(SCENARIO + "elasticity/share", "text")),
    ("`row` is not within the file", huge(SCENARIO + "sample/row")),
    ("`value` is not within the file", huge(SCENARIO + "main_effects/tp/value")),
    ("cannot read `sample`: not a group", replace(SCENARIO + "sample", 3)),
    ("cannot read `decode-8k`", replace("joint/scenarios/decode-8k", None)),
    ("`metric` is not a list of known metrics", attribute("joint", "metric", "beauty")),
    ("`metric` is not a metric", attribute("joint", "metric", None)),
    ("`weights` is not the numbers expected", attribute("joint", "weights", [1.0])),
    ("`variance_share` is not there", attribute(SCENARIO + "main_effects/tp", "variance_share", None)),
    ("`best_row` is not a row", attribute(SCENARIO, "best_row", 1000)),
    ("`search` is not exhaustive or pruned", attribute("/", "search", "deep")),
    ("`latency` is nan in row 0", element(SCENARIO + "pareto/latency", numpy.nan)),
    ("`latency` is inf in row 0", element(SCENARIO + "pareto/latency", numpy.inf)),
    ("`cost` is -1 in row 0", element(SCENARIO + "pareto/cost", -1)),
    ("`tp` is 0 in row 0", element(SCENARIO + "pareto/tp", 0)),
    ("`tp` is 1e+06 in row 0", element(SCENARIO + "pareto/tp", 10**6)),
    ("`flops` is 0 in row 0", element(SCENARIO + "pareto/flops", 0)),
    ("`id` is -3 in row 0", element(SCENARIO + "pareto/id", -3)),
    ("`stage_time` is nan in row 0", element(SCENARIO + "pareto/stage_time", numpy.nan)),
    ("`kv_bytes` is -8 in row 0", element(SCENARIO + "pareto/kv_bytes", -8)),
    ("`power` is nan in row 0", element(SCENARIO + "sample/power", numpy.nan)),
    ("`id` is -1 in row 0", element(SCENARIO + "sample/id", -1)),
    ("`share` is -1 in row 0", element(SCENARIO + "elasticity/share", -1)),
    ("`plan_kept` is inf in row 0", element(SCENARIO + "doubling/plan_kept", numpy.inf)),
    ("`latency` is -1 in row 0", element(SCENARIO + "parallelism/cp/latency", -1)),
    ("`count` is -1 in row 0", element(SCENARIO + "refused/count", -1)),
    ("`counts` is -1 in row 0", element(SCENARIO + "histogram_latency_cost/counts", -1)),
    ("`bin_a` is nan in row 0", element(SCENARIO + "histogram_latency_cost/bin_a", numpy.nan)),
    ("`energy_per_token` is nan in row 0", element("joint/scenarios/decode-8k/energy_per_token", numpy.nan)),
    ("`mean` is nan in row 0", element("joint/mean", numpy.nan)),
    ("`feasible` is not a count", attribute(SCENARIO, "feasible", -1)),
    ("format_version: 2 is not 1", attribute("/", "format_version", 2)),
    ("`refused` is not at most all candidates", element(SCENARIO + "refused/count", 2**62)),
    ("`threads` is not a count", replace("performance/threads", 1e12)),
    ("`best_row` is not a row", attribute(SCENARIO, "best_row", -1)),
    ("`row` is not within the file", huge(SCENARIO + "pareto/row")),
    ("`latency` is not within the file", elsewhere(SCENARIO + "pareto/latency")),
    ("`latency` is not within the file", virtual(SCENARIO + "pareto/latency")),
    ("cannot read `pareto`", replace(SCENARIO + "pareto", h5py.ExternalLink("whole.h5", SCENARIO + "pareto"))),
    ("`scenarios` is not a group of names", lambda result: result.move("scenarios/decode-8k", "scenarios/a b")),
]


def scenario_lost(result):
    del result["scenarios/prefill-4k"], result["joint"]


# What can only be known by evaluating the row again.
CHANGES = [
    ("`latency` is 1 in row 0 of decode-8k, but the row's id gives", element(SCENARIO + "pareto/latency", 1.0)),
    ("`tp` is 2 in row 0 of decode-8k, but the row's id gives", element(SCENARIO + "pareto/tp", 2)),
    ("`hbm_bandwidth` is 1000000000 in row 0 of decode-8k", element(SCENARIO + "pareto/hbm_bandwidth", 1e9)),
    ("its rows are not those of the study in it", element(SCENARIO + "pareto/id", 10**12)),
    ("`study` is not what was swept", lambda result: result["study"].write_direct(
        numpy.array(result["study"].asstr()[()].replace("tp: [1, 2, ", "tp: [1, 3, "), dtype=object))),
    ("its rows are not those of the study in it; ", scenario_lost),
]
CASES = [(["show"], DAMAGES)] + [
    ([*command, "--row", row], CHANGES)
    for command, row in ((["explain"], "0"), (["explain"], "best"), (["explain", "--json"], "all"), (["export"], "0"))
]
failed = 0
for command, message, damage in [(command, *case) for command, cases in CASES for case in cases]:
    path = work + "/damaged.h5"
    shutil.copy(work + "/whole.h5", path)
    with h5py.File(path, "r+") as result:
        damage(result)
    done = subprocess.run([program, *command, path], capture_output=True, text=True, check=False)
    lines = done.stderr.splitlines()
    if done.returncode != 2 or len(lines) != 1 or message not in lines[0]:
        print(f"damaged.sh: {command[0]}: wanted exit code 2 and {message!r}; got {done.returncode} and {lines}", file=sys.stderr)
        failed = 1
sys.exit(failed)
PYTHON
