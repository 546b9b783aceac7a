"""How pictures look: colour-blind safe, units in the labels, round ticks on logarithmic axes."""
import math

import matplotlib

matplotlib.use("Agg")  # no display on a cluster
import matplotlib.pyplot as plt  # noqa: E402  (after the backend is chosen)
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator  # noqa: E402

from report.units import is_share, number, scaled, title  # noqa: E402

# Okabe and Ito's colours; yellow is darkened to stand on white.
BOUND_COLOUR = {"compute": "#0072b2", "vector": "#56b4e9", "memory": "#e69f00", "pe_link": "#009e73", "d2d_link": "#c9b800",
                "c2c_link": "#d55e00", "latency": "#cc79a7", "overhead": "#8a8f98"}
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
INK, MUTED, CLOUD, ACCENT, BAD, GOOD = "#1b2430", "#5b6775", "#b9c1cb", "#d6246e", "#c8372d", "#0a7d55"

plt.rcParams.update({
    "font.size": 9, "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.edgecolor": CLOUD,
    "axes.labelcolor": INK, "text.color": INK, "xtick.color": MUTED, "ytick.color": MUTED, "axes.grid": True,
    "grid.color": "#e6eaef", "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False, "legend.fontsize": 8, "figure.constrained_layout.use": True, "savefig.dpi": 150,
    "svg.hashsalt": "cosweep", "pdf.fonttype": 42})


def log_ticks(low, high):
    """Decades where an axis spans many, 1-2-5 where few, equal steps where hardly one."""
    decades = math.log10(high / low)
    if decades <= 0.55:
        raw = (high - low) / 5
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(head * size for head in (1, 2, 2.5, 5, 10) if head * size >= raw)
        return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    heads = (1,) if decades > 3 else (1, 2, 5) if decades > 1.1 else (1, 1.5, 2, 3, 4, 5, 7)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [head * 10.0 ** power for power in powers for head in heads if low <= head * 10.0 ** power <= high]


def tick_text(value):
    for size, letter in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return number(value / (1e3 if letter == "k" else 1e6), 3) + letter
    return number(value, 4)


def logarithmic(axis, low, high):
    """Make an axis logarithmic with a small margin and round ticks."""
    margin = max(1.02, (high / low) ** 0.04)
    low, high = low / margin, high * margin
    axis.axes.set(**{axis.axis_name + "scale": "log"})
    axis.axes.set(**{axis.axis_name + "lim": (low, high)})
    ticks = log_ticks(low, high)
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter([tick_text(tick) for tick in ticks]))
    axis.set_minor_locator(NullLocator())


def powers_of_two(axis, values):
    """An axis of degrees: 1, 2, 4, ..."""
    axis.axes.set(**{axis.axis_name + "scale": "log"})
    powers = int(math.log2(max(values))) + 1
    ticks = [2 ** power for power in range(0, powers, 1 + powers // 7)]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FixedFormatter([str(tick) for tick in ticks]))
    axis.set_minor_locator(NullLocator())


def dress(axis, name, units, everything, logs=True):
    """Label an axis with the unit that suits the numbers; returns the factor from base units to it."""
    finite = [float(value) for values in everything for value in (values.min(), values.max())]
    low, high = min(finite), max(finite)
    factor, unit = scaled(math.sqrt(low * high) if low > 0 else high, units)
    axis.set_label_text(f"{title(name)} [{unit}]" if unit else title(name))
    if logs and low > 0 and not is_share(name):
        logarithmic(axis, low * factor, high * factor)
    return factor


def new(width=6.0, height=4.2, **arguments):
    return plt.subplots(figsize=(width, height), **arguments)


def new_with_strip(width, height, strip=0.55):
    """(figure, axes, strip): room for a legend under a chart that has none inside."""
    figure, (axes, below) = plt.subplots(2, 1, figsize=(width, height + strip),
                                         gridspec_kw={"height_ratios": [height, strip]})
    below.axis("off")
    return figure, axes, below


def legend_in(strip, handles, columns=4):
    strip.legend(handles=handles, loc="center", ncols=columns)
