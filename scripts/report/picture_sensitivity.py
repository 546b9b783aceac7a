"""Pictures of what a row, and the population, hang on (MODEL section 10)."""
import numpy

from report.style import ACCENT, BAD, BOUND_COLOUR, MUTED, SERIES, dress, legend_in, new, new_with_strip, powers_of_two
from report.units import change, title


def doubling(chosen):
    part = chosen.scenario.doubling
    if not part:
        return None
    row, columns = chosen.row, chosen.scenario.columns
    kept, again = part["plan_kept"].values[row], part["plan_chosen"].values[row]
    order = numpy.lexsort((kept, numpy.fmax(kept, again)))
    knobs = [part["knob"].words[k] for k in order]
    figure, axes = new(6.4, 4)
    places = numpy.arange(len(order))
    for values, shift, colour, name in ((again[order], 0.19, SERIES[5], "plan chosen again"),
                                        (kept[order], -0.19, SERIES[0], "plan kept")):
        bars = axes.barh(places + shift, values - 1, 0.36, left=1, color=colour, label=name)
        axes.bar_label(bars, labels=[f"{value:.2f}×" for value in values], padding=3, fontsize=8)
    labels = [f"{title(knob)}\n{change(value, 2 * value, columns[knob].units)}"
              for knob, value in ((knob, columns[knob].values[row]) for knob in knobs)]
    axes.set_yticks(places, labels)
    axes.set_xlim(1, max(1.05, 1.02 + 1.15 * (numpy.nanmax([kept, again]) - 1)))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("latency before / latency after")
    axes.legend(loc="lower right")
    axes.set_title(chosen.heading("what doubling is worth"))
    return figure


def elasticity(chosen):
    part = chosen.scenario.elasticity
    if not part:
        return None
    rows = chosen.rows
    figure, axes, strip = new_with_strip(6.4, 1.1 + 0.4 * len(rows))
    start = numpy.zeros(len(rows))
    for r, resource in enumerate(part["resource"].words):
        share = part["share"].values[rows, r]
        bars = axes.barh([f"row {row}" for row in rows], share, 0.6, left=start, color=BOUND_COLOUR[resource],
                         label=title(resource))
        axes.bar_label(bars, labels=[f"{100 * value:.3g}%" if value > 0.05 else "" for value in share], label_type="center",
                       fontsize=8, color="white")
        start = start + share
    axes.set_xlim(0, 1)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("share of the step: -d ln latency / d ln resource")
    legend_in(strip, axes.get_legend_handles_labels()[0])
    axes.set_title(f"{chosen.scenario.name}: elasticity of latency")
    return figure


def runs_of(values, reasons, words):
    """`1 to 22: memory`: neighbouring values that are refused for the same reason."""
    texts, start = [], 0
    for i in range(1, len(values) + 1):
        if i == len(values) or reasons[i] != reasons[start]:
            if reasons[start] != 0:
                span = f"{values[start]}" + (f" to {values[i - 1]}" if i - 1 > start else "")
                texts.append(f"{span}: {title(words[reasons[start]])}")
            start = i
    return texts


def draw_curve(axes, chosen, knob, curve):
    values, latency, reason = curve["value"].values, curve["latency"].values[chosen.row], curve["reason"].values[chosen.row]
    known = latency[numpy.isfinite(latency)]
    factor = dress(axes.yaxis, "latency", "s", [known if len(known) else numpy.ones(1)])
    fits, refused = reason == 0, reason != 0
    floor = axes.get_ylim()[0]  # where what has no latency is marked
    axes.plot(values[fits], latency[fits] * factor, "o-", color=SERIES[0], markersize=2.5, linewidth=1.2)
    if refused.any():
        places = numpy.where(numpy.isfinite(latency), latency * factor, floor)
        axes.plot(values[refused], places[refused], "x", color=BAD, markersize=4, clip_on=False)
    axes.axvline(chosen.scenario.columns[knob].values[chosen.row], color=ACCENT, linestyle=":", linewidth=1)
    axes.axhline(chosen.scenario.columns["latency"].values[chosen.row] * factor, color=ACCENT, linestyle=":", linewidth=1)
    powers_of_two(axes.xaxis, values)
    if axes.get_subplotspec().colspan.start > 0:
        axes.set_ylabel(None)
    axes.set_title(title(knob), loc="left")
    said = runs_of(values, reason, curve["reason"].words)
    lines = ["× " + text for text in said[:3]] + [f"× and {len(said) - 3} more"] * (len(said) > 3)
    axes.set_xlabel("\n".join(lines), color=BAD, fontsize=7)


def parallelism(chosen):
    curves = chosen.scenario.curves
    if not curves:
        return None
    figure, places = new(3.1 * len(curves), 3.3, ncols=len(curves), squeeze=False)
    for axes, (knob, curve) in zip(places[0], curves.items()):
        draw_curve(axes, chosen, knob, curve)
    figure.suptitle(f"{chosen.scenario.name}, row {chosen.row}: one degree moves, all else is held (dotted: the row)",
                    fontsize=10)
    return figure


def main_effects(chosen):
    effects = sorted(((share, knob, effect) for knob, (effect, share) in chosen.scenario.effects.items()
                      if len(effect["value"].values) > 1), key=lambda one: one[0])
    if not effects:
        return None
    figure, (left, right) = new(9, 1 + 0.24 * max(len(effects), 12), ncols=2)
    bars = left.barh([title(knob) for _, knob, _ in effects], [100 * share for share, _, _ in effects], 0.65,
                     color=SERIES[0])
    left.bar_label(bars, fmt="%.3g%%", padding=3, fontsize=8)
    left.margins(x=0.18)
    left.grid(axis="y", visible=False)
    left.set_xlabel("variance of ln latency explained [%]")
    left.set_title(f"{chosen.scenario.name}: main effects")
    draw_effect(right, effects[-1][1], effects[-1][2])
    return figure


def draw_effect(axes, knob, effect):
    kept = effect["count"].values > 0
    mean, spread, low = effect["mean"].values[kept], numpy.sqrt(effect["variance"].values[kept]), effect["min"].values[kept]
    places = numpy.arange(kept.sum())
    factor = dress(axes.yaxis, "latency", "s", [low, numpy.exp(mean + spread)])
    centre = numpy.exp(mean) * factor
    axes.errorbar(places, centre, [centre - numpy.exp(mean - spread) * factor, numpy.exp(mean + spread) * factor - centre],
                  fmt="o-",
                  color=SERIES[0], ecolor=MUTED, capsize=3, label="geometric mean, one deviation of ln")
    axes.plot(places, low * factor, "^:", color=SERIES[2], label="lowest")
    column = effect["value"]
    axes.set_xticks(places, [column.say(value) for value in column.values[kept]], rotation=30, ha="right")
    axes.legend()
    axes.set_title(title(knob))
