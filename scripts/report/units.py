"""Numbers as people read them, the way `cosweep show` prints them: 4 digits, a prefix, the unit."""
import math

# Base unit in the file -> (suffix, prefixes of large numbers, prefixes of small ones), ascending.
UNITS = {"s": ("s", "", "munpf"), "bytes": ("B", "kMGTPE", ""), "bytes/s": ("B/s", "kMGTPE", ""),
         "FLOP/s": ("FLOP/s", "kMGTPE", ""), "FLOP": ("FLOP", "kMGTPE", ""), "J": ("J", "kM", "munpf"),
         "W": ("W", "kMG", "munpf"), "USD": ("USD", "", ""), "USD s/token": ("USD s/token", "", "munpf"),
         "J/token": ("J/token", "kM", "munpf"), "tokens/s": ("tokens/s", "kMGT", ""), "1/s": ("/s", "kMGT", ""),
         "%": ("%", "", ""), "1": ("", "kMGTPE", "")}
WORDS = {"pes": "PEs", "sips": "SIPs", "hbm": "HBM", "pe": "PE", "d2d": "D2D", "c2c": "C2C", "kv": "KV", "ffn": "FFN",
         "tp": "TP", "cp": "CP", "pp": "PP", "dp": "DP", "ep": "EP", "gemm": "GEMM", "moe": "MoE", "flops": "FLOP/s",
         "gqa": "GQA", "sip": "SIP", "id": "id"}


def is_share(name):
    """Fractions have no unit in the file; people read them in per cent."""
    return name.endswith(("efficiency", "utilization", "fraction", "share"))


def title(name):
    """A name of the file as words: hbm_utilization -> HBM utilization."""
    words = [WORDS.get(word, word) for word in name.split("_")]
    return " ".join(words)


def scaled(magnitude, units):
    """(factor, unit) in which a number of this size has one to three digits before the point."""
    suffix, up, down = UNITS.get(units, (units, "", ""))
    magnitude, factor, prefix = abs(magnitude), 1.0, ""
    if units == "%":
        return 100.0, "%"
    if not math.isfinite(magnitude) or (units == "1" and magnitude < 1e6):
        return factor, suffix
    for step in up:
        if magnitude >= 999.95:
            magnitude, factor, prefix = magnitude / 1e3, factor / 1e3, step
    for step in down:
        if 0 < magnitude < 0.99995:
            magnitude, factor, prefix = magnitude * 1e3, factor * 1e3, step
    return factor, prefix + suffix


def number(value, digits=4):
    text = "%.*g" % (digits, value)
    return "%.0f" % value if "e+" in text else text


def quantity(value, units):
    if math.isnan(value):
        return "–"
    factor, unit = scaled(value, units)
    text = number(value * factor, 6 if units == "1" and float(value).is_integer() else 4)
    return text + unit if unit == "%" else f"{text} {unit}".strip()


def change(before, after, units):
    """`256 -> 512 GB/s`: the unit once where both share it."""
    texts = [quantity(value, units) for value in (before, after)]
    parts = [text.split(" ", 1) for text in texts]
    shared = len(parts[0]) == len(parts[1]) == 2 and parts[0][1] == parts[1][1]
    return f"{parts[0][0] if shared else texts[0]} → {texts[1]}"
