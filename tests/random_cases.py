#!/usr/bin/python3
"""Random candidates over every branch of the model: what the twin and the program are compared on.

    random_cases.py N SEED        prints N cases, one JSON object per line, most of them valid
"""
import json
import random
import sys

from twin import ffn_ranks, pin, read_model, read_scenario


def random_model(r):
    """Section 1: a model of any family, with odd sizes."""
    family = r.choice(("mha", "gqa", "gqa", "mqa", "mla", "mla"))
    heads = r.choice((8, 12, 16, 20, 24, 30, 32, 48, 64, 71, 128))
    divisors = [d for d in range(2, heads) if heads % d == 0] or [1]
    kv_heads = {"mha": heads, "mla": heads, "mqa": 1}.get(family) or r.choice(divisors)
    if family == "gqa" and r.random() < 0.1:
        kv_heads = r.randint(2, heads - 1)    # does not divide the heads
    model = {"name": family, "layers": r.randint(1, 64), "hidden": r.choice((1024, 2560, 3000, 4096, 5120, 7168, 8192)),
             "heads": heads, "kv_heads": kv_heads, "head_dim": r.choice((64, 80, 96, 128, 256)),
             "ffn": r.choice((4096, 5632, 11008, 14336, 18432)), "vocab": r.choice((32000, 50257, 128256, 151936)),
             "gated": r.random() < 0.75, "tied": r.random() < 0.4, "parallel_block": r.random() < 0.3}
    if family == "mla":
        model["mla"] = {"q_rank": r.choice((0, 768, 1536)), "kv_rank": r.choice((256, 512)), "nope_dim": r.choice((64, 128)),
                        "rope_dim": r.choice((32, 64)), "v_dim": r.choice((64, 128, 192))}
    if r.random() < 0.5:
        experts = r.choice((4, 8, 16, 60, 64, 128, 160, 256))
        model["moe"] = {"experts": experts, "per_token": min(experts, r.choice((1, 2, 4, 6, 8))),
                        "ffn": r.choice((768, 1408, 1536, 2048, 8192)), "shared_ffn": r.choice((0, 0, 1408, 2048, 2816)),
                        "dense_layers": r.choice((0, 0, 1, 3)), "period": r.choice((1, 1, 2, 3))}
        moe_layers = [i for i in range(model["moe"]["dense_layers"], model["layers"])
                      if (i + 1) % model["moe"]["period"] == 0]
        if not moe_layers:
            del model["moe"]    # experts that no layer has are an input error
        elif len(moe_layers) == model["layers"]:
            model["ffn"] = 0
    if r.random() < 0.35:
        model["window"] = {"tokens": r.choice((128, 1000, 4096, 1 << 20)), "global_every": r.choice((0, 2, 3, 6))}
    return model


def random_scenario(r):
    """Section 1: any phase."""
    scenario = {"model": random_model(r), "phase": r.choice(("decode", "decode", "prefill", "prefill", "serve")),
                "weights": r.choice((2.0, 1.0, 0.5625, 0.5)), "kv": r.choice((2.0, 1.0)),
                "activations": r.choice((2.0, 1.0)), "compute": r.choice(("bf16", "fp8", "fp4")),
                "moe_imbalance": r.choice(("uniform", "random", 1.0, 1.25, 3.0)),
                "divisibility": "strict" if r.random() < 0.15 else "pad", "accepted_tokens": 1.0}
    if scenario["phase"] == "serve":
        scenario.update(prompt_tokens=r.choice((1, 512, 1000, 4000, 8192)),
                        answer_tokens=r.choice((1, 100, 128, 1001, 2000)))
        if r.random() < 0.5:
            scenario["prompt_chunk"] = r.choice((1, 128, 512, 2048, 8192))
    elif scenario["phase"] == "prefill":
        scenario.update(new_tokens=r.choice((1, 100, 128, 1000, 8192, 32768, 131072)),
                        past_tokens=r.choice((0, 0, 1, 1000, 8191, 100000)))
    else:
        scenario.update(new_tokens=r.choice((1, 1, 2, 4, 7)),
                        past_tokens=r.choice((0, 127, 1023, 4096, 8191, 100000, 1000000)))
        if scenario["new_tokens"] > 1:
            scenario["accepted_tokens"] = r.choice((1.0, 1.5, float(scenario["new_tokens"])))
    return scenario


def random_plan(r, scenario):
    """Section 1: any plan, most of them valid (section 2)."""
    model, wild = scenario["model"], r.random() < 0.08
    tp_limit, pp_limit = (1 << 30, 1 << 30) if wild else (model["heads"], model["layers"])
    plan = {"tp": r.choice([n for n in (1, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64) if n <= tp_limit]),
            "cp": r.choice((1, 1, 1, 2, 3, 4, 6, 8, 16, 32)),
            "pp": r.choice([n for n in (1, 1, 1, 2, 3, 4, 7, 8, 16) if n <= pp_limit]),
            "dp": r.choice((1, 1, 2, 3, 4, 5, 8)), "ep": 1, "batch": r.choice((1, 2, 3, 5, 8, 16, 64, 256)),
            "tp_placement": r.choice(("pe", "pe", "cube")), "cp_placement": r.choice(("pe", "cube")),
            "ring": r.choice(("kv", "q")), "kv_mode": r.choice(("replicate", "split_dim", "split_seq")),
            "attention_scope": r.choice(("tp", "tp_cp")), "ffn_scope": r.choice(("tp", "tp_cp", "tp_cp_dp")),
            "moe_exchange": r.choice(("allgather", "alltoall"))}
    if scenario["divisibility"] == "strict" and not wild:
        shared = lambda n: "mla" in model or model["kv_heads"] % n == 0 or n % model["kv_heads"] == 0
        fine = lambda n: model["heads"] % n == 0 and shared(n)
        plan["tp"] = r.choice([n for n in (1, 2, 3, 4, 8, 16) if fine(n)])
        plan["pp"] = r.choice([n for n in (1, 2, 3, 4, 7) if model["layers"] % n == 0])
    if not wild:
        longest = scenario["new_tokens"] if scenario["phase"] == "prefill" else 1 << 30
        plan["cp"] = min(plan["cp"], longest)
    if wild:
        plan["ep"] = r.choice((1, 2, 3, 512))
    elif "moe" in model and r.random() < 0.8:
        pinned = pin(read_model(model), read_scenario(scenario), plan)
        D = ffn_ranks(pinned)
        plan["ep"] = r.choice([e for e in range(1, min(D, model["moe"]["experts"]) + 1) if D % e == 0])
    return plan


def random_hardware(r):
    """Section 1: any machine; hops and links slow and fast, overheads zero or not."""
    topologies = ("full", "switch", "switch_reduce", "ring", "mesh2d", "torus2d")
    bandwidth = lambda: r.choice((16e9, 64e9, 128e9, 256e9, 450e9, 900e9))
    flops, priced, ideal = r.choice((8e12, 32e12, 100e12, 989e12)), r.random() < 0.9, r.random() < 0.3
    derate = lambda: 1.0 if ideal else r.choice((0.5, 0.7, 0.85, 1.0))
    overhead = lambda *choices: r.choice((0.0,) + choices)
    price = lambda *choices: r.choice(choices) if priced else 0.0
    return {
        "pes_per_cube": r.choice((1, 2, 3, 4, 6, 8, 12, 16, 72)), "cubes_per_sip": r.choice((1, 2, 3, 4, 6, 8, 16)),
        "allocation": r.choice(("pe", "cube", "sip")),
        "pe": {"flops": flops, "flops_ratio": {"fp8": r.choice((1.5, 2.0)), "fp4": 4.0},
               "vector_flops": flops / r.choice((8, 16, 64)),
               "hbm_bandwidth": r.choice((256e9, 512e9, 1e12, 3.35e12)),
               "hbm_capacity": r.choice((8e9, 24e9, 80e9, 192e9, 1e12, 4e12))},
        "links": {"pe": {"bandwidth": bandwidth(), "latency": r.choice((0.0, 1e-8, 1e-7)), "topology": r.choice(topologies)},
                  "d2d": {"bandwidth": bandwidth(), "latency": r.choice((2e-8, 1e-6)), "topology": r.choice(topologies)},
                  "c2c": {"bandwidth": bandwidth(), "latency": r.choice((5e-7, 1e-5)), "topology": r.choice(topologies)}},
        "efficiency": {name: derate() for name in ("gemm", "attention", "hbm", "kv", "pe_link", "d2d_link", "c2c_link")},
        "overhead": {"kernel": overhead(1e-6, 3e-6), "attention": overhead(5e-6, 1e-5),
                     "pe_collective": overhead(5e-7, 3e-6),
                     "d2d_collective": overhead(1e-6, 5e-6), "c2c_collective": overhead(2e-6, 1e-5), "step": overhead(5e-4)},
        "gemm_tile": r.choice(([1, 1, 1], [16, 16, 16], [128, 128, 64], [128, 256, 32], [8, 1, 1])),
        "attention_query_tile": r.choice((1, 64, 128, 1024)), "gqa_reuse": r.random() < 0.75,
        "reserve_fraction": r.choice((0.0, 0.05, 0.1)), "reserve": r.choice((0.0, 1e9)),
        "energy": {"flop": price(5e-13, 1e-12), "hbm_byte": price(3.2e-11), "pe_link_byte": price(2e-12),
                   "d2d_link_byte": price(4e-12), "c2c_link_byte": price(2.4e-11), "idle": price(0.0, 3.0)},
        "cost": {"pe": price(5.0), "tflops": price(1.0), "gb": price(10.0), "tb_per_s": price(20.0), "pe_link": price(0.01),
                 "cube": price(50.0), "d2d_link": price(0.02), "sip": price(400.0), "c2c_link": price(0.05)}}


def random_case(r):
    scenario = random_scenario(r)
    return {"scenario": scenario, "plan": random_plan(r, scenario), "hardware": random_hardware(r)}


def random_cases(n, seed):
    """n cases; the same seed gives the same cases."""
    r = random.Random(seed)
    return [random_case(r) for _ in range(n)]


if __name__ == "__main__":
    for case in random_cases(int(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(case))
