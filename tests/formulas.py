#!/usr/bin/python3
"""`cosweep explain --formulas --json` against its own stages: formulas.py PROGRAM

Of every candidate of data/golden.jsonl: the terms of a stage add up to its FLOP and bytes, its roofline, exchanges and fixed
time to its time, and each exchange is made of its levels.  Prints what does not; exit code 1 if anything.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

QUANTITIES = ("flop", "vector_flop", "hbm_bytes")
MIN_STAGES = 2000


def study_of(case):
    """A study of one candidate; JSON is YAML."""
    scenario = dict(case["scenario"], name="only")
    return json.dumps({"study": "one", "scenarios": [scenario], "plan": case["plan"], "hardware": case["hardware"],
                       "objectives": ["latency", "cost"]})


def explained(program, path):
    """What `explain --formulas --json` says."""
    done = subprocess.run([program, "explain", path, "--formulas", "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"formulas.py: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


def stage_faults(stage):
    """Names of what does not add up."""
    for quantity in QUANTITIES:
        if not same(sum(t["value"] for t in stage["formulas"] if t["quantity"] == quantity), stage[quantity]):
            yield quantity
    for exchange in stage["exchanges"]:
        levels = sum(level["time_s"] for level in exchange["levels"])
        if exchange["kind"] != "message" and not same(levels + exchange["fixed_s"], exchange["time_s"]):
            yield exchange["what"]
    roofline = stage["roofline"]
    exchange_s = sum(exchange["time_s"] for exchange in stage["exchanges"])
    work_s = max(roofline["compute_s"], roofline["vector_s"], roofline["memory_s"])
    # What a ring exposes is a difference of longer times: compare at the size of the stage.
    if abs(exchange_s - stage["exchange_s"]) > 1e-12 * stage["time_s"]:
        yield "exchange_s"
    if not same(work_s + exchange_s + roofline["fixed_s"], stage["time_s"]):
        yield "time_s"


def main():
    program = sys.argv[1]
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "golden.jsonl")
    n_stages, n_wrong = 0, 0
    with open(data, encoding="utf-8") as lines, tempfile.TemporaryDirectory() as folder:
        for line in lines:
            golden = json.loads(line)
            path = os.path.join(folder, "study.yaml")
            with open(path, "w", encoding="utf-8") as study:
                study.write(study_of(golden["case"]))
            for stage in explained(program, path).get("stages", []):
                n_stages += 1
                for fault in stage_faults(stage):
                    n_wrong += 1
                    print(f"golden {golden['id']}: {stage['stage']}: {fault} does not add up")
    print(f"{n_stages} stages, {n_wrong} faults")
    return 1 if n_wrong or n_stages < MIN_STAGES else 0


if __name__ == "__main__":
    sys.exit(main())
