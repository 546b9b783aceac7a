"""What the rows of the measurements mean by the names of their models, machines, number formats and stacks."""


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
# What may follow a preset's name in a repository's: the same layers, trained or stored otherwise.  Not "distill", not ".2".
VARIANT = r"(-(instruct|it|chat|base|thinking|hf|fp8|fp4|nvfp4|mxfp4|bf16|awq|gptq|dynamic|v[0-9.]+|[0-9]{4}))*"
PALM_PARAMETERS = {"PaLM-62B": 62.5e9, "PaLM-540B": 540.35e9}
SYSTEM = {"a100_sxm": "a100-80", "h100_sxm": "h100", "h200_sxm": "h200", "b200_sxm": "b200", "b300_sxm": "b300",
          "gb200": "gb200", "l40s": "l40s"}
PUBLISHED_HARDWARE = (  # beginnings of the column
    ("A100-SXM-80GB", {"base": "a100-80"}), ("H100-SXM-80GB", {"base": "h100"}), ("H200-SXM", {"base": "h200"}),
    ("B200", {"base": "b200"}), ("L40S", {"base": "l40s"}), ("H800", {"base": "h800"}), ("TPU v4", {"base": "tpu-v4"}),
    # The H100 of the context parallelism paper: HBM2e, and 800 TFLOP/s at its 500 W.
    ("H100-96GB", {"base": "h100", "pe": {"flops": 800e12, "hbm_bandwidth": 2.4e12, "hbm_capacity": 96e9}}))
# FasterTransformer 5, TensorRT-LLM before 0.7, PyTorch of 2022: kernels launched one by one, outside of a CUDA graph, and a
# small all-reduce by NCCL, 22 us over 8 A100s (collectives.csv), about three such where it spans nodes.
EAGER = {"overhead": {"kernel": 10e-6, "pe_collective": 20e-6, "c2c_collective": 60e-6}}
# TensorRT-LLM before 0.7: every query head reads its own copy of keys and values, too.
NO_GQA = dict(EAGER, gqa_reuse=False)
WEIGHTS = {"": "bf16", "fp8_block": "fp8", "nvfp4(MoE)": "nvfp4", "fp8-ffn/bf16-attn": "fp8"}
# Operations of a layer that was timed piece by piece -> stages; the unfused ones are one stage of the model together.
STAGE = {"Q_K_V": "qkv_proj", "Wo_proj": "o_proj", "W1_proj": "gate_up", "W2_proj": "down", "GeLU": "activation",
         "LayerNorm_MHA": "attn_norm", "LayerNorm_FFN": "ffn_norm", "AllReduce_MHA": "attn_allreduce",
         "AllReduce_FFN": "combine"}
UNFUSED = ("Q_mul_K", "A_mul_V", "Softmax")
