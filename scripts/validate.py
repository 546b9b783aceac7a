#!/usr/bin/python3
"""Predicts measured end-to-end rows with `cosweep evaluate` and says how far off it is.

    validate.py MEASURED_DIR [--cosweep PROGRAM] [--csv FILE]

Reads serving_dense.csv, serving_moe.csv and published.csv.  Prints bias and mean, median and 90th percentile of the
absolute error per source, then the rows that are off by more than half and what is odd about them; no row is left out of a
statistic.  Machines are the presets, which were fitted to single operations only; what older stacks did otherwise is stated
in validation_facts.py, as round numbers that were set with their rows in view.

Serving rows are the phase `serve` with `prompt_chunk: 8192`, the tokens that vLLM, SGLang and TensorRT-LLM let into a step
where nobody says otherwise; `even shares` is the phase without it, where each step carries its share of the prompts, which
makes a difference to the experts that a step touches and to nothing else.
"""
import argparse
import csv
import functools
import json
import os
import re
import signal
import subprocess
import sys

from validation_facts import (EAGER, MODEL, NO_GQA, PALM_PARAMETERS, PUBLISHED_HARDWARE, STAGE, SYSTEM, UNFUSED, VARIANT,
                              WEIGHTS)

BAD = 0.5  # a row that is off by more is named
CHUNK = 8192  # prompt tokens of a step: max_num_batched_tokens, chunked_prefill_size, max_num_tokens


class Unknown(Exception):
    """Of a row that cannot be predicted; its text says why."""


def model_of(name, presets=()):
    """A preset's name or inline facts.  A name that is not listed may be that of a preset and a variant of it."""
    plain = name.rsplit("/", 1)[-1].lower()
    if plain.startswith("meta-"):
        plain = plain[len("meta-"):]
    alike = [preset for preset in presets if re.fullmatch(re.escape(preset) + VARIANT, plain)]
    found = MODEL.get(name) or max(alike, key=len, default=None)
    if not found:
        raise Unknown("nothing is known of model %s: add its facts to validation_facts.py" % name)
    return found


def merged(base, changes):
    result = dict(base)
    for key, value in changes.items():
        result[key] = merged(result.get(key, {}), value) if isinstance(value, dict) else value
    return result


# ---------------------------------------------------------------- asking the program

class Engine:
    """Answers of `PROGRAM evaluate -`, each asked once."""

    def __init__(self, program):
        self.program, self.known = program, {}
        listing = subprocess.run([program, "models", "--json"], stdout=subprocess.PIPE, check=True)
        self.presets = [preset["model"]["name"] for preset in json.loads(listing.stdout)]

    def ask(self, cases):
        keys = [json.dumps(case, sort_keys=True) for case in cases]
        new = sorted(set(keys) - self.known.keys())
        if new:
            run = subprocess.run([self.program, "evaluate", "-"], input="\n".join(new) + "\n", stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, universal_newlines=True)
            lines = run.stdout.splitlines()
            if len(lines) != len(new):
                sys.exit("validate.py: %s evaluate answered %d lines of %d: %s" % (
                    self.program, len(lines), len(new), run.stderr.strip()[-400:]))
            self.known.update(zip(new, map(json.loads, lines)))
        answers = [self.known[key] for key in keys]
        for case, answer in zip(cases, answers):
            if "latency_s" not in answer:
                sys.exit("validate.py: no prediction: %s for %s" % (answer.get("error", answer.get("reason")),
                                                                    json.dumps(case)))
        return answers


class Result:
    def __init__(self, source, name, measured, predicted, notes):
        self.source, self.name, self.measured, self.predicted, self.notes = source, name, measured, predicted, notes

    def error(self, method):
        return self.predicted[method] / self.measured - 1


# ---------------------------------------------------------------- serving

class Job:
    """A row of the serving tables: the plan its columns mean, and the batch of a replica."""

    def __init__(self, row, presets):
        self.row, self.notes = row, []
        if row["system"] not in SYSTEM:
            raise Unknown("nothing is known of system %s: add its preset to validation_facts.py" % row["system"])
        self.prompt, self.answer = int(row["isl"]), int(row["osl"])
        self.tpot_s, self.ttft_s = float(row["silicon_tpot_ms"]) * 1e-3, float(row["silicon_ttft_ms"]) * 1e-3
        self.read_plan()
        weights = WEIGHTS.get(row["gemm_quant_mode"], row["gemm_quant_mode"])
        if "gpt-oss" in row["model_path"] and weights == "nvfp4":
            weights = "mxfp4"  # what the model is published in
        # NVIDIA's quantised Llama checkpoints, which TensorRT-LLM runs, ask for an fp8 cache; all others keep bf16.
        fp8_cache = "nvidia/" in row["model_path"] or (row["backend"] == "trtllm" and weights == "fp8"
                                                       and "Llama" in row["model_path"])
        self.scenario = {"model": model_of(row["model_path"], presets), "weights": weights,
                         "kv": "fp8" if fp8_cache else "bf16", "moe_imbalance": "random"}

    def read_plan(self):
        """Columns hold what a table could: products of degrees where TP and EP are both given, a mere number of GPUs where a
        rack runs wide expert parallelism, nothing where attention is data parallel."""
        row = self.row
        tp, dp, split, ep = (max(1, int(row[name] or 1)) for name in (
            "tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size"))
        self.batch = int(row["batch_size"])
        if split == ep > 1 and tp * dp == split * ep:
            self.batch = max(1, self.batch * dp // ep) if dp > 1 else self.batch
            tp, dp = (1, ep) if dp > 1 else (ep, 1)
            self.notes.append("degrees are multiplied: read as %d GPUs" % ep)
        elif tp > 8 and ep <= 1:
            tp, dp, ep, self.batch = 1, tp, tp, max(1, self.batch // tp)
            self.notes.append("tp is the number of GPUs: read as attention DP and EP over %d" % dp)
        elif tp * dp < split * ep:
            dp, self.batch = split * ep // tp, max(1, self.batch * tp * dp // (split * ep))
            self.notes.append("%d GPUs for experts, %d for attention: read as attention DP %d" % (split * ep, tp, dp))
        self.plan = {"tp": tp, "dp": dp, "ep": ep, "pp": int(row["pp_size"]), "ffn_scope": "tp_cp_dp" if dp > 1 else "tp",
                     "moe_exchange": "alltoall" if dp > 1 else "allgather"}

    def case(self, batch, **phase):
        return {"scenario": dict(self.scenario, **phase), "plan": dict(self.plan, batch=batch),
                "hardware": {"base": SYSTEM[self.row["system"]]}}

    def serve(self, batch, **chunk):
        return self.case(batch, phase="serve", prompt_tokens=self.prompt, answer_tokens=self.answer, **chunk)


def limit_batches(engine, jobs):
    """A replica that cannot hold its batch serves what it holds and lets the others wait."""
    full = [job for job, answer in zip(jobs, engine.ask([job.serve(job.batch) for job in jobs])) if not answer["fits"]]
    ones = [answer["fits"] for answer in engine.ask([job.serve(1) for job in full])]
    for job, fits in zip(full, ones):
        if not fits:
            job.notes.append("not even one sequence fits")
    open_jobs = [(job, 1, job.batch) for job, fits in zip(full, ones) if fits]
    while open_jobs:
        middles = [(low + high) // 2 for _, low, high in open_jobs]
        answers = engine.ask([job.serve(middle) for (job, _, _), middle in zip(open_jobs, middles)])
        narrowed = [(job, middle, high) if answer["fits"] else (job, low, middle)
                    for (job, low, high), middle, answer in zip(open_jobs, middles, answers)]
        for job, low, high in narrowed:
            if high - low <= 1:
                job.notes.append("only %d of %d sequences fit" % (low, job.batch))
                job.batch = low
        open_jobs = [entry for entry in narrowed if entry[2] - entry[1] > 1]


def note_oddities(jobs, serves):
    same = {}
    for job in jobs:
        same.setdefault(job.row["backend"] + json.dumps(job.serve(job.batch), sort_keys=True), []).append(job)
    for group in same.values():
        fast, slow = min(job.tpot_s for job in group), max(job.tpot_s for job in group)
        for job in group:
            if slow > 1.3 * fast:
                job.notes.append("the same configuration took from %.3g to %.3g ms" % (1e3 * fast, 1e3 * slow))
    for job, answer in zip(jobs, serves):
        if job.ttft_s > job.tpot_s * job.answer:
            job.notes.append("requests wait longer than they decode")
        roofline_s = answer["efficiency"] * answer["step_s"]
        if job.tpot_s < roofline_s:
            job.notes.append("faster than the machine's peak rates: cached prompts or several tokens a step")
        if job.tpot_s > 10 * roofline_s:
            job.notes.append("takes %.0f times what peak rates need" % (job.tpot_s / roofline_s))


def read_jobs(engine, source, rows, unknown):
    for row in rows:
        try:
            yield Job(row, engine.presets)
        except Unknown as why:
            unknown.append("%s: %s: %s" % (source, row["id"], why))


def serving(engine, source, rows, unknown):
    jobs = list(read_jobs(engine, source, rows, unknown))
    limit_batches(engine, jobs)
    serves = engine.ask([job.serve(job.batch) for job in jobs])
    note_oddities(jobs, serves)
    chunks = engine.ask([job.serve(job.batch, prompt_chunk=CHUNK) for job in jobs])
    even_s, chunk_s = [[answer["latency_s"] for answer in answers] for answers in (serves, chunks)]
    for job, even, chunk in zip(jobs, even_s, chunk_s):
        predicted = {"serve": chunk}
        if even_s != chunk_s:
            predicted["even shares"] = even
        yield Result(source, job.row["id"], job.tpot_s, predicted, job.notes)


# ---------------------------------------------------------------- published rows

def published_case(row, phase, changes, **scenario):
    weights = WEIGHTS.get(row["weight_dtype"], row["weight_dtype"])
    machine = next(machine for name, machine in PUBLISHED_HARDWARE if row["hardware"].startswith(name))
    plan = {name: int(row[name]) for name in ("tp", "pp", "dp", "ep", "cp")}
    plan["batch"] = int(row["batch"])
    if row["cp"] != "1":
        plan["cp_placement"] = "cube"
    if row["dp"] != "1":
        plan.update(ffn_scope="tp_cp_dp", moe_exchange="alltoall")
    scenario = dict({"model": model_of(row["model"]), "phase": phase, "weights": weights, "kv": row["kv_dtype"],
                     "moe_imbalance": "random"}, **scenario)
    return {"scenario": scenario, "plan": plan, "hardware": merged(machine, changes)}


def prefill_case(row, changes, new=None, past=0, **scenario):
    return published_case(row, "prefill", changes, new_tokens=new or int(row["input_len"]), past_tokens=past, **scenario)


def decode_case(row, changes, past, **scenario):
    return published_case(row, "decode", changes, new_tokens=1, past_tokens=past, **scenario)


def whole_answers(engine, row, changes):
    """Seconds for a static batch: its prompts, then the other tokens at the mean context."""
    prompt, answer = int(row["input_len"]), int(row["output_len"])
    first, other = engine.ask([prefill_case(row, changes), decode_case(row, changes, prompt + answer // 2)])
    return first["latency_s"] + (answer - 1) * other["latency_s"]


def static_batch(changes, engine, row):
    batch, chips = int(row["batch"]), int(row["num_chips"])
    if row["metric"] == "ttft_ms":
        return 1e3 * engine.ask([prefill_case(row, changes)])[0]["latency_s"], []
    latency_s = whole_answers(engine, row, changes)
    tokens_per_s = batch * int(row["output_len"]) / latency_s
    return {"latency_s": latency_s, "tokens_per_s_total": tokens_per_s,
            "tokens_per_s_per_chip": tokens_per_s / chips}[row["metric"]], []


def tensorrt_serve(engine, row):
    case = published_case(row, "serve", {}, prompt_tokens=int(row["input_len"]), answer_tokens=int(row["output_len"]))
    return engine.ask([case])[0]["throughput_per_pe"], []


def expert_parallel(engine, row):
    """Two micro-batches overlap compute and exchange there, which the model does not."""
    balanced = {"moe_imbalance": "uniform"} if row["phase"] == "prefill" else {}
    case = (prefill_case(row, {}, **balanced) if row["phase"] == "prefill" else
            decode_case(row, {}, int(row["input_len"]) + int(row["output_len"]) // 2))
    return engine.ask([case])[0]["throughput_per_pe"], ["two micro-batches overlap there"]


def context_parallel(engine, row):
    if row["phase"] == "decode":
        return 1e3 * engine.ask([decode_case(row, {}, int(row["context_len"]))])[0]["latency_s"], []
    new = int(row["input_len"])
    case = prefill_case(row, {}, past=int(row["context_len"]) - new)
    case["plan"]["ring"] = "q" if row["notes"].startswith("passQ") else "kv"
    latency_s = engine.ask([case])[0]["latency_s"]
    return latency_s if row["metric"] == "latency_s" else 1e3 * latency_s, []


def pope(engine, row):
    """bf16 multiplies whatever the weights are stored in; batch-sharded attention is the split KV cache."""
    prompt = int(row["input_len"] or row["context_len"])
    notes = ["weight-gathered layout, which the model does not have"] if "WG" in row["notes"] else []
    if row["phase"] == "prefill":
        case, tokens = prefill_case(row, {}, compute="bf16"), prompt
    else:
        case, tokens = decode_case(row, {}, prompt + int(row["output_len"] or 0) // 2, compute="bf16"), 1
    if "headsharded" not in row["notes"] and row["phase"] == "decode":
        case["plan"]["kv_mode"] = "split_seq"
    answer = engine.ask([case])[0]
    if row["metric"] == "max_context_len":  # 30% of 32 GiB for the cache
        return int(row["context_len"]) * 0.3 * 32 * 2**30 / answer["memory"]["kv_bytes"], notes
    if row["metric"] == "mfu":
        flop = 2 * PALM_PARAMETERS[row["model"]] * int(row["batch"]) * tokens
        return flop / (int(row["num_chips"]) * 275e12 * answer["latency_s"]), notes
    steps = int(row["output_len"]) if row["phase"] == "decode" and row["metric"] == "latency_s" else 1
    return answer["latency_s"] * steps * (1e3 if row["metric"] == "tpot_ms" else 1), notes


def one_layer(engine, row):
    """Operations of one layer, each a stage; scores, softmax and values are thirds of the model's fused stage."""
    past = int(row["context_len"])
    answer = engine.ask([prefill_case(row, EAGER) if row["phase"] == "component-prefill" else
                         decode_case(row, EAGER, past - 1)])[0]
    times = {stage["stage"]: stage["time_s"] for stage in answer["stages"]}
    operation = row["id"].rsplit("-", 1)[1]
    if operation in STAGE:
        return times[STAGE[operation]], []
    attention_s = times["attention"] / len(UNFUSED)
    return attention_s if operation in UNFUSED else answer["layers_s"], ["attention is three kernels there, not causal"]


EAGER_BATCH, NO_GQA_BATCH = (functools.partial(static_batch, stack) for stack in (EAGER, NO_GQA))
SOURCES = (  # id prefix, source, prediction
    ("FT-GPT20B", "FasterTransformer GPT-20B", EAGER_BATCH),
    ("FT-MT530B", "FasterTransformer 530B", EAGER_BATCH), ("FT-", "FasterTransformer other", EAGER_BATCH),
    ("TRT-DSR1", "TensorRT-LLM DeepSeek-R1", tensorrt_serve),
    ("TRT0", "TensorRT-LLM 0.5 and 0.6", NO_GQA_BATCH), ("H200launch", "TensorRT-LLM 0.5 and 0.6", NO_GQA_BATCH),
    ("H100vA100", "TensorRT-LLM 0.5 and 0.6", NO_GQA_BATCH), ("POPE", "Pope et al., TPU v4", pope),
    ("LLMC", "LLMCompass, one layer", one_layer), ("CP-", "context parallelism", context_parallel),
    ("DS-", "large-scale EP", expert_parallel), ("SGL-", "large-scale EP", expert_parallel))


def published(engine, rows, unknown):
    for row in rows:
        known = [(source, predict) for prefix, source, predict in SOURCES if row["id"].startswith(prefix)]
        if not known:
            unknown.append("published: %s: of no known source: add it to SOURCES" % row["id"])
        elif row["metric"] == "oom":
            held = int(row["input_len"]) + int(row["output_len"]) - 1
            fits = engine.ask([decode_case(row, EAGER, held)])[0]["fits"]
            print("%s ran out of memory: predicted %s" % (row["id"], "to fit" if fits else "as well"), file=sys.stderr)
        else:
            predicted, notes = known[0][1](engine, row)
            yield Result(known[0][0], row["id"], float(row["value"]), {"model": predicted}, notes)


# ---------------------------------------------------------------- report

def line(source, method, errors):
    sizes = sorted(abs(error) for error in errors)
    return "%-26s %-11s %4d %+7.1f%% %6.1f%% %6.1f%% %6.1f%%" % (
        source, method, len(errors), 100 * sum(errors) / len(errors), 100 * sum(sizes) / len(sizes),
        100 * sizes[len(sizes) // 2], 100 * sizes[int(0.9 * (len(sizes) - 1))])


def report(results):
    print("%-26s %-11s %4s %8s %7s %7s %7s" % ("source", "method", "rows", "bias", "MAPE", "median", "p90"))
    sources = {}
    for result in results:
        for method in result.predicted:
            sources.setdefault((result.source, method), []).append(result.error(method))
    for (source, method), errors in sources.items():
        print(line(source, method, errors))
    print("\nrows off by more than %.0f%%" % (100 * BAD))
    for result in sorted(results, key=lambda result: result.source):
        if all(abs(result.error(method)) > BAD for method in result.predicted):
            errors = ", ".join("%s %+.0f%%" % (method, 100 * result.error(method)) for method in result.predicted)
            print("; ".join(["%s: %s: %s" % (result.source, result.name, errors)] + result.notes))


def write_csv(path, results):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "id", "measured", "method", "predicted", "error", "notes"])
        for result in results:
            for method, predicted in result.predicted.items():
                writer.writerow([result.source, result.name, result.measured, method, predicted, result.error(method),
                                 "; ".join(result.notes)])


def read(folder, name):
    try:
        with open(os.path.join(folder, name), newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        sys.exit("validate.py: %s; give the folder that holds the measurements" % error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", metavar="MEASURED_DIR", help="folder with the measurements")
    parser.add_argument("--cosweep", default="./build/cosweep", metavar="PROGRAM", help="default ./build/cosweep")
    parser.add_argument("--csv", metavar="FILE", help="write every prediction")
    arguments = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    engine, folder, unknown = Engine(arguments.cosweep), arguments.measured, []
    results = list(serving(engine, "serving, dense", read(folder, "serving_dense.csv"), unknown))
    results += serving(engine, "serving, MoE", read(folder, "serving_moe.csv"), unknown)
    results += published(engine, read(folder, "published.csv"), unknown)
    if arguments.csv:
        write_csv(arguments.csv, results)
    report(results)
    for row in unknown:
        print("validate.py: no prediction: %s" % row, file=sys.stderr)
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
