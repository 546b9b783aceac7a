#!/usr/bin/python3
"""Predicts measured end-to-end rows with `cosweep evaluate` and says how far off it is.

    validate.py MEASURED_DIR [--cosweep PROGRAM] [--csv FILE]

Reads serving_dense.csv, serving_moe.csv and published.csv.  Prints bias and mean, median and 90th percentile of the
absolute error per source, then the rows that are off by more than half and what is odd about them; no row is left out of a
statistic.  Nothing here is fitted: machines are the presets, and what a stack of its time did otherwise is stated below.

Time per output token is predicted twice.  `serve` is the model's phase of that name: every step carries its share of the
prompts.  `in turn` lets steps alternate as schedulers do: a decode step, or a prompt's step in which the tokens of the
others ride along, which comes batch/answer times as often: decode + batch/answer * max(0, prefill of one prompt - decode).
"""
import argparse
import csv
import json
import os
import subprocess
import sys

BAD = 0.5  # a row that is off by more is named
TURN = "in turn"

# ---------------------------------------------------------------- models, machines, stacks


def gpt(name, layers, hidden, heads, head_dim, ffn, vocab, **changes):
    return dict({"name": name, "layers": layers, "hidden": hidden, "heads": heads, "kv_heads": heads, "head_dim": head_dim,
                 "ffn": ffn, "vocab": vocab, "gated": False, "tied": True, "parallel_block": False}, **changes)


PALM = {"kv_heads": 1, "gated": True, "parallel_block": True}
# A preset's name, or the facts of a model that is none: FasterTransformer docs/gpt_guide.md, the GPT-J and PaLM papers.
# PaLM-540B has 48 heads, which its TPU implementation padded to 64.
MODEL = {
    "Qwen/Qwen3-32B": "qwen3-32b", "Qwen/Qwen3-235B-A22B-FP8": "qwen3-235b-a22b", "openai/gpt-oss-120b": "gpt-oss-120b",
    "meta-llama/Llama-3.1-70B": "llama-3.1-70b", "meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b",
    "nvidia/Llama-3.1-8B-Instruct-FP8": "llama-3.1-8b", "deepseek-ai/DeepSeek-V3": "deepseek-v3",
    "deepseek-ai/DeepSeek-R1": "deepseek-v3", "DeepSeek-V3": "deepseek-v3", "DeepSeek-R1": "deepseek-v3",
    "Llama-7B": "llama-2-7b", "Llama2-13B": "llama-2-13b", "Llama2-70B": "llama-2-70b", "Llama3-405B": "llama-3.1-405b",
    "Falcon-180B": "falcon-180b",
    "GPT-J-6B": gpt("gpt-j-6b", 28, 4096, 16, 256, 16384, 50400, tied=False, parallel_block=True),
    "GPT-1.3B": gpt("gpt-1.3b", 24, 2048, 32, 64, 8192, 51200),
    "GPT-6.7B": gpt("gpt-6.7b", 32, 4096, 32, 128, 16384, 51200),
    "GPT-20B": gpt("gpt-20b", 44, 6144, 48, 128, 24576, 51200),
    "GPT-89B": gpt("gpt-89b", 48, 12288, 96, 128, 49152, 51200),
    "GPT3-175B": gpt("gpt-175b", 96, 12288, 96, 128, 49152, 51200),
    "GPT3-175B (1 layer)": gpt("gpt-175b-layer", 1, 12288, 96, 128, 49152, 51200),
    "Megatron-Turing-530B": gpt("mt-530b", 105, 20480, 128, 160, 81920, 51200),
    "PaLM-62B": gpt("palm-62b", 64, 8192, 32, 256, 32768, 256000, **PALM),
    "PaLM-540B": gpt("palm-540b", 118, 18432, 64, 256, 73728, 256000, **PALM),
}
PALM_PARAMETERS = {"PaLM-62B": 62.5e9, "PaLM-540B": 540.35e9}
SYSTEM = {"a100_sxm": "a100-80", "h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "b300_sxm": "b300",
          "gb200": "gb200", "l40s": "l40s"}
PUBLISHED_HARDWARE = (  # beginnings of the column
    ("A100-SXM-80GB", {"base": "a100-80"}), ("H100-SXM-80GB", {"base": "h100"}), ("H200-SXM", {"base": "h200"}),
    ("B200", {"base": "b200"}), ("L40S", {"base": "l40s"}), ("H800", {"base": "h800"}), ("TPU v4", {"base": "tpu-v4"}),
    # The H100 of the context parallelism paper: HBM2e, and 800 TFLOP/s at its 500 W.
    ("H100-96GB", {"base": "h100", "pe": {"flops": 800e12, "hbm_bandwidth": 2.4e12, "hbm_capacity": 96e9}}))
# FasterTransformer 5 and PyTorch of 2022, before CUDA graphs and custom all-reduce kernels: NCCL, whose all-reduce of a small
# message takes 10 to 22 us on 2 to 8 A100s (collectives.csv), and kernels that are launched one by one.
EAGER = {"overhead": {"pe_collective": 12e-6}}
# TensorRT-LLM before 0.7: every query head reads its own copy of keys and values.
NO_GQA = {"gqa_reuse": False}
WEIGHTS = {"": "bf16", "fp8_block": "fp8", "nvfp4(MoE)": "nvfp4", "fp8-ffn/bf16-attn": "fp8"}


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

    def ask(self, cases):
        keys = [json.dumps(case, sort_keys=True) for case in cases]
        new = sorted(set(keys) - self.known.keys())
        if new:
            run = subprocess.run([self.program, "evaluate", "-"], input="\n".join(new) + "\n", stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, universal_newlines=True)
            lines = run.stdout.splitlines()
            if len(lines) != len(new):
                sys.exit("validate.py: %s evaluate answered %d lines of %d; %s" % (self.program, len(lines), len(new),
                                                                                   run.stderr.strip()[-400:]))
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

    def __init__(self, row):
        self.row, self.notes = row, []
        self.prompt, self.answer = int(row["isl"]), int(row["osl"])
        self.tpot_s, self.ttft_s = float(row["silicon_tpot_ms"]) * 1e-3, float(row["silicon_ttft_ms"]) * 1e-3
        self.read_plan()
        weights = WEIGHTS.get(row["moe_quant_mode"] or row["gemm_quant_mode"], row["moe_quant_mode"] or row["gemm_quant_mode"])
        if not row["gemm_quant_mode"]:
            weights = "bf16"
        if "gpt-oss" in row["model_path"] and weights == "nvfp4":
            weights = "mxfp4"  # what the model is published in
        # NVIDIA's quantised Llama checkpoints, which TensorRT-LLM runs, ask for an fp8 cache; all others keep bf16.
        fp8_cache = "nvidia/" in row["model_path"] or (row["backend"] == "trtllm" and weights == "fp8"
                                                       and "Llama" in row["model_path"])
        self.scenario = {"model": MODEL[row["model_path"]], "weights": weights, "kv": "fp8" if fp8_cache else "bf16",
                         "moe_imbalance": "random"}

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

    def serve(self, batch):
        return self.case(batch, phase="serve", prompt_tokens=self.prompt, answer_tokens=self.answer)

    def decode(self):
        return self.case(self.batch, phase="decode", new_tokens=1, past_tokens=self.prompt + self.answer // 2)

    def prefill(self):
        return self.case(1, phase="prefill", new_tokens=self.prompt, past_tokens=0)


def limit_batches(engine, jobs):
    """A replica that cannot hold its batch serves what it holds and lets the others wait."""
    open_jobs = [(job, 1, job.batch) for job, answer in zip(jobs, engine.ask([job.serve(job.batch) for job in jobs]))
                 if not answer["fits"]]
    for (job, _, _), answer in zip(list(open_jobs), engine.ask([job.serve(1) for job, _, _ in open_jobs])):
        if not answer["fits"]:
            job.notes.append("not even its weights fit")
    open_jobs = [entry for entry in open_jobs if not entry[0].notes[-1:] == ["not even its weights fit"]]
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
        same.setdefault(json.dumps([job.row[key] for key in ("system", "backend", "backend_version")] + [job.serve(job.batch)],
                                   sort_keys=True), []).append(job)
    for group in same.values():
        fast, slow = min(job.tpot_s for job in group), max(job.tpot_s for job in group)
        for job in group:
            if slow > 1.3 * fast:
                job.notes.append("the same configuration took from %.3g to %.3g ms" % (1e3 * fast, 1e3 * slow))
    for job, answer in zip(jobs, serves):
        if job.ttft_s > job.tpot_s * job.answer:
            job.notes.append("requests wait longer than they decode")
        if job.tpot_s < answer["efficiency"] * answer["step_s"]:
            job.notes.append("faster than the machine's peak rates: cached prompts or several tokens a step")


def serving(engine, source, rows):
    jobs = [Job(row) for row in rows]
    limit_batches(engine, jobs)
    serves = engine.ask([job.serve(job.batch) for job in jobs])
    note_oddities(jobs, serves)
    decodes, prefills = engine.ask([job.decode() for job in jobs]), engine.ask([job.prefill() for job in jobs])
    for job, serve, decode, prefill in zip(jobs, serves, decodes, prefills):
        turn = decode["latency_s"] + job.batch / job.answer * max(0, prefill["latency_s"] - decode["latency_s"])
        yield Result(source, job.row["id"], job.tpot_s, {"serve": serve["latency_s"], TURN: turn}, job.notes)


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
    scenario = dict({"model": MODEL[row["model"]], "phase": phase, "weights": weights, "kv": row["kv_dtype"],
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


def static_batch(engine, row, changes):
    if row["metric"] == "latency_s":
        return whole_answers(engine, row, changes)
    if row["metric"] == "ttft_ms":
        return 1e3 * engine.ask([prefill_case(row, changes)])[0]["latency_s"]
    chips = int(row["num_chips"]) if row["metric"] == "tokens_per_s_per_chip" else 1
    return int(row["batch"]) * int(row["output_len"]) / whole_answers(engine, row, changes) / chips


def faster_transformer(engine, row):
    return static_batch(engine, row, EAGER), []


def tensorrt(engine, row):
    if row["id"].startswith("TRT-DSR1"):
        case = published_case(row, "serve", {}, prompt_tokens=int(row["input_len"]), answer_tokens=int(row["output_len"]))
        return engine.ask([case])[0]["throughput_per_pe"], []
    return static_batch(engine, row, NO_GQA), []


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


STAGE = {"Q_K_V": "qkv_proj", "Wo_proj": "o_proj", "W1_proj": "gate_up", "W2_proj": "down", "GeLU": "activation",
         "LayerNorm_MHA": "attn_norm", "LayerNorm_FFN": "ffn_norm", "AllReduce_MHA": "attn_allreduce",
         "AllReduce_FFN": "combine"}
UNFUSED = ("Q_mul_K", "A_mul_V", "Softmax")


def one_layer(engine, row):
    """Operations of one layer, each a stage; scores, softmax and values are one fused stage of the model, compared as such."""
    past = int(row["context_len"])
    prefill = row["phase"] == "component-prefill"
    case = prefill_case(row, EAGER) if prefill else decode_case(row, EAGER, past - 1)
    answer = engine.ask([case])[0]
    times = {stage["stage"]: stage["time_s"] for stage in answer["stages"]}
    operation = row["id"].rsplit("-", 1)[1]
    if operation in STAGE:
        return times[STAGE[operation]], []
    notes = ["attention of that row is three kernels, and not causal"]
    if operation in UNFUSED:
        return times["attention"] / len(UNFUSED), notes
    return answer["layers_s"], notes


SOURCES = (  # id prefix, source, prediction
    ("FT-GPT20B", "FasterTransformer GPT-20B", faster_transformer), ("FT-MT530B", "FasterTransformer 530B", faster_transformer),
    ("FT-", "FasterTransformer other", faster_transformer), ("TRT-DSR1", "TensorRT-LLM DeepSeek-R1", tensorrt),
    ("TRT0", "TensorRT-LLM 0.5 and 0.6", tensorrt), ("H200launch", "TensorRT-LLM 0.5 and 0.6", tensorrt),
    ("H100vA100", "TensorRT-LLM 0.5 and 0.6", tensorrt), ("POPE", "Pope et al., TPU v4", pope),
    ("LLMC", "LLMCompass, one layer", one_layer), ("CP-", "context parallelism", context_parallel),
    ("DS-", "large-scale EP", expert_parallel), ("SGL-", "large-scale EP", expert_parallel))


def published(engine, rows):
    for row in rows:
        known = [(source, predict) for prefix, source, predict in SOURCES if row["id"].startswith(prefix)]
        if not known:
            print("validate.py: published.csv: %s is of no known source" % row["id"], file=sys.stderr)
        elif row["metric"] != "oom":
            predicted, notes = known[0][1](engine, row)
            yield Result(known[0][0], row["id"], float(row["value"]), {"model": predicted}, notes)


# ---------------------------------------------------------------- report

def line(source, method, errors):
    sizes = sorted(abs(error) for error in errors)
    return "%-26s %-8s %4d %+7.1f%% %6.1f%% %6.1f%% %6.1f%%" % (
        source, method, len(errors), 100 * sum(errors) / len(errors), 100 * sum(sizes) / len(sizes),
        100 * sizes[len(sizes) // 2], 100 * sizes[int(0.9 * (len(sizes) - 1))])


def report(results):
    print("%-26s %-8s %4s %8s %7s %7s %7s" % ("source", "method", "rows", "bias", "MAPE", "median", "p90"))
    sources = {}
    for result in results:
        for method in result.predicted:
            sources.setdefault((result.source, method), []).append(result.error(method))
    for (source, method), errors in sources.items():
        print(line(source, method, errors))
    print("\nrows off by more than %.0f%%" % (100 * BAD))
    for result in sorted(results, key=lambda result: result.source):
        errors = {method: result.error(method) for method in result.predicted}
        if all(abs(error) > BAD for error in errors.values()):
            print("%s: %s: %s%s" % (result.source, result.name, ", ".join(
                "%s %+.0f%%" % (method, 100 * error) for method, error in errors.items()),
                "".join("; " + note for note in result.notes)))


def write_csv(path, results):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "id", "measured", "method", "predicted", "error", "notes"])
        for result in results:
            for method, predicted in result.predicted.items():
                writer.writerow([result.source, result.name, result.measured, method, predicted, result.error(method),
                                 "; ".join(result.notes)])


def read(folder, name):
    with open(os.path.join(folder, name), newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", metavar="MEASURED_DIR", help="folder with the measurements")
    parser.add_argument("--cosweep", default="./build/cosweep", metavar="PROGRAM", help="default ./build/cosweep")
    parser.add_argument("--csv", metavar="FILE", help="write every prediction")
    arguments = parser.parse_args()
    engine = Engine(arguments.cosweep)
    results = list(serving(engine, "serving, dense", read(arguments.measured, "serving_dense.csv")))
    results += serving(engine, "serving, MoE", read(arguments.measured, "serving_moe.csv"))
    results += published(engine, read(arguments.measured, "published.csv"))
    report(results)
    if arguments.csv:
        write_csv(arguments.csv, results)


if __name__ == "__main__":
    main()
