#!/usr/bin/python3
"""`cosweep evaluate` against numbers that others worked out from the model: golden.py PROGRAM

data/golden.jsonl holds 200 candidates with what is expected of them; random candidates are answered by the naive twin.
Every expected number must be there and agree to 1e-9, stages in order.  Prints what does not; exit code 1 if anything.
"""
import collections
import json
import os
import subprocess
import sys

import random_cases
import twin

SEEDS = range(1, 7)
CASES_PER_SEED = 250
MISMATCHES_SHOWN = 20


def program_answers(program, cases):
    """What `PROGRAM evaluate -` says, an object per case."""
    text = "".join(json.dumps(case) + "\n" for case in cases)
    done = subprocess.run([program, "evaluate", "-"], input=text, capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(cases):
        sys.exit(f"golden.py: exit code {done.returncode}, {len(lines)} answers to {len(cases)} cases\n{done.stderr}")
    return [json.loads(line) for line in lines]


def numbers_in(value):
    if isinstance(value, dict):
        return sum(numbers_in(member) for member in value.values())
    if isinstance(value, list):
        return sum(numbers_in(member) for member in value)
    return 0 if isinstance(value, (bool, str)) or value is None else 1


def compare(name, expected, answers):
    """Prints the first mismatches; returns how many candidates have one."""
    n_wrong, n_shown = 0, 0
    for i, (expect, answer) in enumerate(zip(expected, answers)):
        wrong = twin.differences(expect, answer)
        n_wrong += bool(wrong)
        for line in wrong[:MISMATCHES_SHOWN - n_shown]:
            n_shown += 1
            print(f"{name} {i + 1}{line}")
    print(f"{name}: {len(expected) - n_wrong} of {len(expected)} agree, {numbers_in(expected)} numbers")
    return n_wrong


def check_coverage(cases, expected):
    """A comparison of candidates that are all refused, or all of one kind, would say nothing."""
    seen = collections.Counter()
    for case, expect in zip(cases, expected):
        scenario, model = case["scenario"], case["scenario"]["model"]
        if "stages" not in expect:
            continue
        attention = "mla" if "mla" in model else "mqa" if model["kv_heads"] == 1 else "mha" \
            if model["kv_heads"] == model["heads"] else "gqa"
        seen[attention, scenario["phase"]] += 1
        for part in ("moe", "window"):
            seen[part, scenario["phase"]] += part in model
        seen["parallel_block", scenario["phase"]] += model["parallel_block"]
    thin = [key for key in ((kind, phase) for phase in ("decode", "prefill", "serve")
                            for kind in ("mha", "gqa", "mqa", "mla", "moe", "window", "parallel_block")) if seen[key] < 10]
    for key in thin:
        print(f"random cases: only {seen[key]} with numbers of {key}")
    return len(thin)


def main(program):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "data", "golden.jsonl"), encoding="utf-8") as lines:
        golden = [json.loads(line) for line in lines]
    n_wrong = compare("golden", [line["expect"] for line in golden],
                      program_answers(program, [line["case"] for line in golden]))
    cases, expected = [], []
    for seed in SEEDS:
        cases += random_cases.random_cases(CASES_PER_SEED, seed)
    expected = [twin.evaluate(case) for case in cases]
    n_wrong += compare("random", expected, program_answers(program, cases))
    n_wrong += check_coverage(cases, expected)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
