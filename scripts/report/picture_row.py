"""Pictures of why one row takes what it takes."""
import numpy
from matplotlib.patches import Patch

from report.style import ACCENT, BOUND_COLOUR, CLOUD, MUTED, SERIES, legend_in, new, new_with_strip
from report.units import quantity, scaled, title

EDGES = ("embed", "final_norm", "lm_head")


def bound_handles(bounds):
    return [Patch(color=BOUND_COLOUR[bound], label=f"bound by {title(bound)}") for bound in BOUND_COLOUR if bound in bounds]


def stages(chosen):
    scenario, row = chosen.scenario, chosen.row
    time, bound = scenario.stage_time.values[row], scenario.stage_bound
    kept = [s for s in range(len(time)) if time[s] > 0]
    factor, unit = scaled(float(max(time)), "s")
    bounds = [bound.words[bound.values[row, s]] for s in kept]
    figure, axes, strip = new_with_strip(6.4, 1.1 + 0.27 * len(kept), 0.4)
    bars = axes.barh([title(scenario.stage.words[s]) for s in kept], time[kept] * factor, 0.7,
                     color=[BOUND_COLOUR[name] for name in bounds])
    axes.bar_label(bars, labels=[f"{quantity(time[s], 's')}, {100 * time[s] / time.sum():.3g}%" for s in kept], padding=3,
                   fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"time in a step, all layers [{unit}]")
    legend_in(strip, bound_handles(bounds))
    axes.set_title(chosen.heading("stages"))
    return figure


def compare(chosen):
    scenario = chosen.scenario
    rows = chosen.rows if len(chosen.rows) > 1 else sorted({int(row) for row in numpy.linspace(0, scenario.n_rows - 1, 4)})
    if len(rows) < 2:
        return None
    time = scenario.stage_time.values[rows]
    factor, unit = scaled(float(time.sum(axis=1).max()), "s")
    figure, axes, strip = new_with_strip(7, 1.1 + 0.35 * len(rows), 0.9)
    start, colours = numpy.zeros(len(rows)), list(BOUND_COLOUR.values())
    kept = [s for s in range(time.shape[1]) if time[:, s].max() > 0]
    for i, s in enumerate(kept):
        axes.barh([f"row {row}" for row in rows], time[:, s] * factor, 0.65, left=start, color=colours[i % len(colours)],
                  hatch="///" if i >= len(colours) else None, edgecolor="white", linewidth=0.3,
                  label=title(scenario.stage.words[s]))
        start = start + time[:, s] * factor
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"time in a step, all layers [{unit}]")
    legend_in(strip, axes.get_legend_handles_labels()[0], 5)
    axes.set_title(f"{scenario.name}: stages side by side")
    return figure


def layer_kinds(details):
    """(what, stages, ring) of every layer kind, then of the edges of a step."""
    kinds = {}
    for stage in details["stages"]:
        edge = stage["stage"] in EDGES
        kinds.setdefault("edges" if edge else (stage["window"], stage["moe"]), []).append(stage)
    rings = {(ring["window"], ring["moe"]): ring for ring in details.get("ring") or []}
    for key, members in kinds.items():
        text = "embedding and logits, once a step" if key == "edges" else \
            ", ".join(filter(None, [f"window {key[0]:,.0f}" if key[0] else "", "MoE" if key[1] else ""])) or "layer"
        yield f"{text} × {members[0]['count']}" if key != "edges" else text, members, rings.get(key)


def draw_kind(axes, what, members, ring):
    total = sum(stage["time_s"] for stage in members)
    factor, unit = scaled(total, "s")
    at = 0.0
    for place, stage in enumerate(members):
        time, exchange = stage["time_s"] * factor, stage["exchange_s"] * factor
        axes.barh(place, time, 0.7, left=at, color=BOUND_COLOUR[stage["bound"]])
        axes.barh(place, exchange, 0.7, left=at + time - exchange, color="none", edgecolor="white", hatch="////",
                  linewidth=0)
        text = quantity(stage["time_s"], "s")
        if ring and stage["stage"] == "attention":
            text += f"  ↻ ring: {ring['hops']:g} hops of {quantity(ring['hop_s'], 's')}, " + (
                "hidden" if ring["hidden"] else quantity(ring["exposed_s"], "s") + " exposed")
        axes.text(at + time + 0.01 * total * factor, place, text, va="center", fontsize=7,
                  color=ACCENT if "ring" in text else MUTED)
        at += time
    axes.set_yticks(range(len(members)), [title(stage["stage"]) for stage in members])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.22 * total * factor)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"time [{unit}], exchanges hatched")
    axes.set_title(f"{what}: {quantity(total, 's')}")


def pipeline(chosen):
    kinds = list(layer_kinds(chosen.details()))
    heights = [0.9 + 0.24 * len(members) for _, members, _ in kinds] + [0.4]
    figure, places = new(7, sum(heights), nrows=len(heights), squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes, (what, members, ring) in zip(places[:, 0], kinds):
        draw_kind(axes, what, members, ring)
    places[-1, 0].axis("off")
    legend_in(places[-1, 0], bound_handles({stage["bound"] for _, members, _ in kinds for stage in members}))
    figure.suptitle(f"{chosen.scenario.name}, row {chosen.row}", fontsize=10)
    return figure


def memory(chosen):
    details = chosen.details()
    parts, waste = details["memory"], details["waste"]
    capacity = float(chosen.scenario.columns["hbm_capacity"].values[chosen.row])
    factor, unit = scaled(capacity, "bytes")
    bars = [("weights", parts["weights_bytes"], SERIES[0]), ("KV cache", parts["kv_bytes"], SERIES[4]),
            ("activations", parts["activation_bytes"], SERIES[2]), ("free or reserved",
                                                                    max(0, capacity - parts["total_bytes"]), CLOUD)]
    bars += [(f"of that: {cause['meaning']}", cause["pe_bytes"], SERIES[1]) for cause in waste["causes"]]
    figure, axes = new(7.4, 1.1 + 0.3 * len(bars))
    drawn = axes.barh([name for name, _, _ in bars], [size * factor for _, size, _ in bars], 0.65,
                      color=[colour for _, _, colour in bars])
    axes.bar_label(drawn, labels=[f"{quantity(size, 'bytes')}, {100 * size / capacity:.3g}%" for _, size, _ in bars],
                   padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.28)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"on the fullest PE [{unit}], in per cent of its {quantity(capacity, 'bytes')}")
    axes.set_title(chosen.heading("memory"))
    return figure
