#!/usr/bin/python3
"""Fits the efficiencies and fixed times of measured GPUs and prints the rows of src/hardware/fitted.def.

    fit_presets.py MEASURED_DIR [--cosweep PROGRAM]

Reads single operations timed alone: gemm.csv, decode_attention.csv, context_attention.csv, mla_attention.csv,
collectives.csv, moe_compute.csv.  Never reads an end-to-end row.  Peaks come from `PROGRAM hardware --json`.  The rows go
to stdout; how well one set of constants describes each kind of operation goes to stderr.

Each operation is predicted with the model's own time, max(FLOP/(peak*e), bytes/(bandwidth*e)) + fixed time, and the
constants minimise the mean |ln(predicted/measured)|, so that a few odd rows do not pull them and 2x slow weighs like 2x
fast.  One set per GPU serves all number formats, which are weighed alike.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys

# The system of the measurements -> the preset whose peaks it has, in the order of fitted.def.
PRESET = {"a100_sxm": "a100-80", "h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "gb200": "gb200",
          "l40s": "l40s"}
# Format -> (bytes per weight, the preset's ratio of its rate to bf16).  nvfp4 has one fp8 scale per 16 values.
FORMAT = {"bfloat16": (2.0, None), "fp8": (1.0, "fp8_ratio"), "fp8_block": (1.0, "fp8_ratio"),
          "nvfp4": (0.5625, "fp4_ratio")}
KV_BYTES = {"bfloat16": 2.0, "fp8": 1.0}
ACTIVATION_BYTES = 2.0
MLA_RANK, MLA_ROPE, MLA_NOPE, MLA_VALUE = 512, 64, 128, 128  # DeepSeek-V3, the only MLA that was measured
SERVING_ROWS = 128, 2048  # tokens of a serving step in which compute counts
SERVING_BYTES = 1 << 14, 1 << 26  # what it reduces: one token of 8192 dims to 4096 tokens, in bf16


class Row:
    """One timed operation: seconds at peak rates, what it took, and which kind and format it is."""

    def __init__(self, kind, form, compute_s, bytes_s, measured_s, rows=0):
        self.kind, self.form, self.rows = kind, form, rows
        self.compute_s, self.bytes_s, self.measured_s = compute_s, bytes_s, measured_s

    def resident(self):
        """Faster than HBM can be: its operands sat in the cache, which no layer of a served model finds them in."""
        return self.bytes_s > self.measured_s


# ---------------------------------------------------------------- reading

def read(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def whole(row, *names):
    return tuple(int(float(row[name])) for name in names)


def seconds(row):
    return float(row["latency_ms"]) * 1e-3


def gemm_rows(folder, system, peak):
    for row in read(folder, "gemm.csv"):
        if row["system"] == system:
            m, n, k = whole(row, "m", "n", "k")
            weight_bytes, ratio = FORMAT[row["dtype"]]
            rate = peak["flops"] * (peak[ratio] if ratio else 1)
            moved = n * k * weight_bytes + m * (n + k) * ACTIVATION_BYTES
            yield Row("gemm", row["dtype"], 2 * m * n * k / rate, moved / peak["hbm_bandwidth"], seconds(row), m)


def attention_row(kind, form, peak, scores, dims, moved, measured_s, window):
    compute = max(2 * scores * dims / peak["flops"], 5 * scores / peak["vector_flops"])
    return Row(kind + " windowed" * window, form, compute, moved / peak["hbm_bandwidth"], measured_s)


def decode_rows(folder, system, peak):
    for row in read(folder, "decode_attention.csv"):
        if row["system"] == system:
            batch, heads, kv_heads, dim, window, cached, new = whole(
                row, "batch", "num_heads", "num_kv_heads", "head_dim", "window_size", "kv_len", "q_len")
            kept = min(cached, window or cached)
            moved = batch * 2 * dim * (kept * kv_heads * KV_BYTES[row["kv_dtype"]] + new * heads * ACTIVATION_BYTES)
            yield attention_row("decode attention", row["kv_dtype"], peak, batch * new * heads * kept, 2 * dim, moved,
                                seconds(row), window > 0)


def pairs(new, past, window):
    """Query-key pairs of one sequence: the sum of min(window, past + i) over i = 1..new."""
    open_rows = min(new, max(0, window - past)) if window else new
    return open_rows * past + open_rows * (open_rows + 1) // 2 + (new - open_rows) * window


def context_rows(folder, system, peak):
    tile = int(peak["attention_query_tile"])
    for row in read(folder, "context_attention.csv"):
        if row["system"] == system:
            batch, heads, kv_heads, dim, window, new, past = whole(
                row, "batch", "num_heads", "num_kv_heads", "head_dim", "window_size", "seq_len", "past_kv_len")
            met = min(new + past, window + tile) if window else new + past
            moved = batch * (met * -(-new // tile) * kv_heads * 2 * dim * KV_BYTES[row["kv_dtype"]]
                             + new * heads * 2 * dim * ACTIVATION_BYTES)
            yield attention_row("context attention", row["attn_dtype"] + "/" + row["kv_dtype"], peak,
                                batch * heads * pairs(new, past, window), 2 * dim, moved, seconds(row), window > 0)


def mla_rows(folder, system, peak):
    for row in read(folder, "mla_attention.csv"):
        if row["system"] == system:
            batch, heads, length, past = whole(row, "batch", "local_num_heads", "isl", "past_kv_len")
            if row["phase"] == "generation":
                cached, dims = length + past, 2 * MLA_RANK + MLA_ROPE
                scores, kv_bytes = batch * heads * cached, KV_BYTES[row["kv_dtype"]]
                moved = batch * (cached * (MLA_RANK + MLA_ROPE) * kv_bytes + heads * dims * ACTIVATION_BYTES)
                yield attention_row("MLA decode", row["kv_dtype"], peak, scores, dims, moved, seconds(row), False)
            else:
                dims = MLA_NOPE + MLA_ROPE + MLA_VALUE
                scores = batch * heads * pairs(length, past, 0)
                passes = -(-length // int(peak["attention_query_tile"]))
                moved = batch * heads * dims * ACTIVATION_BYTES * ((length + past) * passes + length)
                yield attention_row("MLA context", row["kv_dtype"], peak, scores, dims, moved, seconds(row), False)


def expert_rows(folder, system, peak):
    """gate_up, activation and down of one rank's experts with balanced routing: the fixed times of three stages."""
    for row in read(folder, "moe_compute.csv"):
        if row["system"] == system and row["distribution"] == "balanced":
            tokens, hidden, width, chosen, experts, split, ranks = whole(
                row, "num_tokens", "hidden", "inter", "topk", "num_experts", "moe_tp", "moe_ep")
            weight_bytes, ratio = FORMAT[row["dtype"]]
            rate = peak["flops"] * (peak[ratio] if ratio else 1)
            routed, width = tokens * chosen / ranks, width / split
            touched = experts / ranks * (1 - (1 - chosen / experts) ** tokens)
            moved = 3 * touched * hidden * width * weight_bytes + routed * (2 * hidden + 6 * width) * ACTIVATION_BYTES
            yield Row("experts", row["dtype"], 6 * routed * hidden * width / rate, moved / peak["hbm_bandwidth"],
                      seconds(row), tokens * chosen / experts)


def collective_rows(folder, system):
    """(op, ranks, bytes, seconds), the quickest library per size: stacks choose likewise."""
    best = {}
    for row in read(folder, "collectives.csv"):
        if row["system"] == system and row["scope"] == "intra-node":
            key = (row["op"], int(row["num_gpus"]), int(row["message_bytes"]))
            best[key] = min(best.get(key, math.inf), seconds(row))
    return [key + (value,) for key, value in sorted(best.items())]


# ---------------------------------------------------------------- fitting

def minimise(loss, start, steps, low, high):
    """Pattern search: try each coordinate up and down by its step, halve the steps where nothing helps."""
    best, best_loss = list(start), loss(start)
    for _ in range(12):
        moved = True
        while moved:
            moved = False
            for i in range(len(best)):
                for sign in (1, -1):
                    trial = list(best)
                    trial[i] = min(high[i], max(low[i], trial[i] + sign * steps[i]))
                    trial_loss = loss(trial)
                    if trial_loss < best_loss - 1e-12:
                        best, best_loss, moved = trial, trial_loss, True
        steps = [step / 2 for step in steps]
    return best


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by_form(rows):
    forms = {}
    for row in rows:
        forms.setdefault(row.form, []).append(row)
    return forms


def miss(rows, compute, memory, fixed_s):
    return mean(abs(math.log((max(row.compute_s / compute, row.bytes_s / memory) + fixed_s) / row.measured_s))
                for row in rows)


def fit_gemm(rows, experts):
    """(e_gemm, e_hbm, o_kernel).

    HBM efficiency comes from bf16, a bare GEMM.  A timed GEMM of 8 or 4 bits includes the quantisation of its input, which
    stacks fuse with the norm, rope or activation beside it: its fixed time is that of two stages of the model.  Experts are
    three.  Bare, quantised and experts weigh alike.  The share of the peak is what serving steps reach, averaged over the
    formats of GEMMs and of experts.
    """
    forms, expert_forms = (by_form(row for row in kind if not row.resident()) for kind in (rows, experts))
    bare, memory, fixed_s = minimise(lambda x: miss(forms["bfloat16"], *x), (0.7, 0.8, 4e-6), (0.1, 0.1, 2e-6),
                                     (0.1, 0.1, 0), (1, 1, 5e-5))
    quantised = [minimise(lambda x: miss(forms[name], x[0], memory, x[1]), (bare, 8e-6), (0.1, 2e-6), (0.1, 0), (1, 5e-5))
                 for name in forms if name != "bfloat16"]
    experts = [minimise(lambda x: miss(form, *x), (bare, memory, 2e-5), (0.1, 0.1, 4e-6), (0.1, 0.1, 0), (1, 1, 2e-4))
               for form in expert_forms.values()]
    groups = [fixed_s], [fit[1] / 2 for fit in quantised], [fit[2] / 3 for fit in experts]
    fixed_s = mean(mean(group) for group in groups if group)
    steps = [([row for row in form if SERVING_ROWS[0] <= row.rows <= SERVING_ROWS[1]], stages)
             for kind, stages in ((forms, 1), (expert_forms, 3)) for form in kind.values()]
    compute = mean(minimise(lambda x: miss(form, x[0], memory, stages * fixed_s), (bare,), (0.1,), (0.1,), (1,))[0]
                   for form, stages in steps)
    return compute, memory, fixed_s


def fit_attention(decode, context):
    """(e_attn, e_kv, o_attn): decode reads the cache and says what memory and launch cost, context computes.  Windowed rows
    are left out: a mask inside a tile is work that the model does not know."""
    decode = list(by_form(row for row in decode if not row.resident() and "windowed" not in row.kind).values())
    memory, fixed_s = minimise(lambda x: mean(miss(rows, 1, *x) for rows in decode), (0.8, 8e-6), (0.1, 2e-6), (0.1, 0),
                               (1, 5e-5))
    context = list(by_form(row for row in context if "windowed" not in row.kind).values())
    if not context:
        return None, memory, fixed_s
    compute, = minimise(lambda x: mean(miss(rows, x[0], memory, fixed_s) for rows in context), (0.5,), (0.1,), (0.1,), (1,))
    return compute, memory, fixed_s


def collective_s(op, ranks, size, bandwidth, efficiency, hop_s, fixed_s):
    """MODEL section 4 on a switch: all-reduce takes the better of two-shot and one-shot."""
    share = (ranks - 1) / ranks * size / (bandwidth * efficiency)
    if op == "all_reduce":
        return fixed_s + min(2 * hop_s + 2 * share, hop_s + ranks * share)
    return fixed_s + hop_s + share


def collective_miss(rows, bandwidth, constants):
    return mean(abs(math.log(collective_s(op, ranks, size, bandwidth, *constants) / measured))
                for op, ranks, size, measured in rows)


def fit_link(rows, bandwidth):
    """(e_link, a, o_coll) of the all-reduce, the collective that tensor parallelism waits for twice a layer."""
    rows = [row for row in rows if row[0] == "all_reduce" and SERVING_BYTES[0] <= row[2] <= SERVING_BYTES[1]]
    return minimise(lambda x: collective_miss(rows, bandwidth, x), (0.7, 1e-6, 2e-6), (0.1, 1e-6, 1e-6), (0.1, 0, 0),
                    (1, 5e-5, 1e-4))


# ---------------------------------------------------------------- reporting

def report(system, kind, errors, resident=0):
    if errors:
        sizes = sorted(abs(error) for error in errors)
        print("%-9s %-28s n %4d  cached %3d  bias %+5.0f%%  median %4.0f%%  p90 %4.0f%%" % (
            system, kind, len(errors), resident, 100 * mean(errors), 100 * sizes[len(sizes) // 2],
            100 * sizes[int(0.9 * (len(sizes) - 1))]), file=sys.stderr)


def report_rows(system, rows, compute, memory, fixed_s):
    kinds = {}
    for row in rows:
        kinds.setdefault((row.kind, row.form), []).append(row)
    for (kind, form), group in sorted(kinds.items()):
        kept = [row for row in group if not row.resident()]
        errors = [(max(row.compute_s / compute, row.bytes_s / memory) + fixed_s) / row.measured_s - 1 for row in kept]
        report(system, kind + " " + form, errors, len(group) - len(kept))


def report_links(system, rows, bandwidth, link):
    for op in sorted({row[0] for row in rows}):
        report(system, op, [collective_s(op, ranks, size, bandwidth, *link) / measured - 1
                            for name, ranks, size, measured in rows if name == op])


# ---------------------------------------------------------------- main

def fit_system(folder, system, peak):
    """The constants this system's own measurements give; None for a group that was not measured."""
    gemm, links = list(gemm_rows(folder, system, peak)), collective_rows(folder, system)
    attention = list(decode_rows(folder, system, peak)) + list(context_rows(folder, system, peak))
    decode = [row for row in attention if row.kind.startswith("decode")]
    experts = list(expert_rows(folder, system, peak))
    return {"gemm": fit_gemm(gemm, experts) if gemm else None,
            "attention": fit_attention(decode, [row for row in attention if row not in decode]) if decode else None,
            "link": fit_link(links, peak["pe_bandwidth"]) if links else None}


def fill_gaps(fitted):
    """What was not measured is taken from the nearest that was: GB200 is a B200 on another board; L40S has the attention
    kernels of A100, the last generation without Hopper's, and for want of better its all-reduce."""
    for system, constants in fitted.items():
        near = fitted["b200_sxm" if system == "gb200" else "a100_sxm"]
        for group in constants:
            constants[group] = constants[group] or near[group]
        if constants["attention"][0] is None:
            constants["attention"] = near["attention"][:1] + constants["attention"][1:]


def report_system(folder, system, peak, constants):
    gemm, attention, link = constants["gemm"], constants["attention"], constants["link"]
    report_rows(system, list(gemm_rows(folder, system, peak)), gemm[0], gemm[1], gemm[2])
    report_rows(system, list(expert_rows(folder, system, peak)), gemm[0], gemm[1], 3 * gemm[2])
    for rows in (decode_rows, context_rows, mla_rows):
        report_rows(system, list(rows(folder, system, peak)), *attention)
    report_links(system, collective_rows(folder, system), peak["pe_bandwidth"], link)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", metavar="MEASURED_DIR", help="folder with the measurements")
    parser.add_argument("--cosweep", default="./build/cosweep", metavar="PROGRAM", help="default ./build/cosweep")
    arguments = parser.parse_args()
    listing = subprocess.run([arguments.cosweep, "hardware", "--json"], check=True, stdout=subprocess.PIPE).stdout
    peaks = {machine["name"]: machine["hardware"] for machine in json.loads(listing)}
    fitted = {system: fit_system(arguments.measured, system, peaks[preset]) for system, preset in PRESET.items()}
    fill_gaps(fitted)
    for system, preset in PRESET.items():
        constants = fitted[system]
        report_system(arguments.measured, system, peaks[preset], constants)
        gemm, attention, link = constants["gemm"], constants["attention"], constants["link"]
        print("#define FITTED_%s EFFICIENCY(%.2f, %.2f, %.2f, %.2f), PE_LINK(%.2f, %.1fe-6, %.1fe-6), "
              "OVERHEAD(%.1fe-6, %.1fe-6, 0)" % (
                  system.replace("_sxm", "").upper(), gemm[0], attention[0], gemm[1], attention[1], link[0],
                  link[1] * 1e6, link[2] * 1e6, gemm[2] * 1e6, attention[2] * 1e6))


if __name__ == "__main__":
    main()
