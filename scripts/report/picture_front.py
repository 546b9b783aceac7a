"""Pictures of where the Pareto set lies, and of what was refused."""
import numpy
from matplotlib.colors import LogNorm

from report.result import HIGH, front
from report.style import ACCENT, BAD, CLOUD, GOOD, INK, MUTED, SERIES, dress, log_ticks, new, tick_text
from report.units import quantity, scaled, title

MOST_SHAPES = 20000  # points of a PDF that are drawn one by one; more are a picture in it

def draw_front(chosen, x_name, y_name, colour_name, axes=None):
    """One metric against another: the sample in grey, the Pareto set coloured, dashed what nothing beats."""
    scenario = chosen.scenario
    x, y, colour = (scenario.columns[name] for name in (x_name, y_name, colour_name))
    figure = axes.figure if axes else None
    if not axes:
        figure, axes = new()
    sampled = scenario.sample and x_name in scenario.sample and y_name in scenario.sample
    cloud = [scenario.sample[name].values for name in (x_name, y_name)] if sampled else []
    factors = [dress(axis, column.name, column.units, [column.values] + cloud[i:i + 1])
               for i, (axis, column) in enumerate(((axes.xaxis, x), (axes.yaxis, y)))]
    if sampled:
        axes.scatter(cloud[0] * factors[0], cloud[1] * factors[1], s=1.2, color=CLOUD, alpha=0.5, linewidths=0,
                     rasterized=True, zorder=1, label=f"{len(cloud[0]):,} of {int(scenario.facts['feasible']):,} feasible")
    if y_name != "hbm_utilization":
        line = front(x.values, y.values, x_name in HIGH, y_name in HIGH)
        axes.plot(x.values[line] * factors[0], y.values[line] * factors[1], "--", color=MUTED, linewidth=1, zorder=3)
    factor, unit = scaled(float(colour.values.max()), colour.units)
    values = colour.values * factor
    logs = values.min() > 0 and values.max() > 4 * values.min()
    points = axes.scatter(x.values * factors[0], y.values * factors[1], c=values, s=20, cmap="viridis", edgecolors="white",
                          linewidths=0.4, norm=LogNorm() if logs else None, zorder=4,
                          rasterized=scenario.n_rows > MOST_SHAPES, label=f"Pareto set, {scenario.n_rows} rows")
    bar = figure.colorbar(points, ax=axes, label=f"{title(colour_name)} [{unit}]" if unit else title(colour_name))
    ticks = numpy.unique(values)
    if len(ticks) > 10:
        ticks = log_ticks(values.min(), values.max()) if logs else bar.get_ticks()
    bar.set_ticks(ticks, labels=[tick_text(value) for value in ticks])
    bar.minorticks_off()
    axes.set_title(f"{scenario.name}: {scenario.facts['model']}, {scenario.facts['phase']}")
    if sampled:
        axes.legend(loc="best", markerscale=2)
    return figure


def latency_cost(chosen):
    return draw_front(chosen, "latency", "cost", "pes")


def latency_pes(chosen):
    return draw_front(chosen, "latency", "pes", "efficiency")


def latency_hbm(chosen):
    return draw_front(chosen, "latency", "hbm_utilization", "pes")


def third(result):
    return result.objectives[2] if len(result.objectives) > 2 else "pes"


def objectives(chosen):
    return draw_front(chosen, *chosen.result.objectives[:2], third(chosen.result))


def all_scenarios(result, chosen_of):
    """The objectives of every scenario side by side: what scripts/plot_pareto.py draws."""
    n = len(result.scenarios)
    figure, places = new(6.2 * n, 4.4, ncols=n, squeeze=False)
    figure.suptitle(result.facts["title"])
    for axes, scenario in zip(places[0], result.scenarios):
        if scenario.n_rows > 0:
            draw_front(chosen_of(scenario), *result.objectives[:2], third(result), axes=axes)
        else:
            axes.set_title(f"{scenario.name}: {scenario.facts['model']}, {scenario.facts['phase']}")
            axes.text(0.5, 0.5, "nothing feasible", ha="center", transform=axes.transAxes)
    return figure


def histogram(chosen):
    parts = chosen.scenario.histograms
    if not parts:
        return None
    (x_name, y_name), part = next(iter(parts.items()))
    figure, axes = new()
    edges = [numpy.append(part["bin_" + letter].values, part["upper_" + letter].values[-1]) for letter in "ab"]
    factors = [dress(axis, name, part["bin_" + letter].units, [edge])
               for axis, name, letter, edge in ((axes.xaxis, x_name, "a", edges[0]), (axes.yaxis, y_name, "b", edges[1]))]
    counts = numpy.ma.masked_equal(part["counts"].values.T, 0)
    mesh = axes.pcolormesh(edges[0] * factors[0], edges[1] * factors[1], counts, norm=LogNorm(), cmap="cividis",
                           rasterized=True)
    figure.colorbar(mesh, ax=axes, label="feasible candidates per bin")
    if chosen.scenario.n_rows:
        columns = chosen.scenario.columns
        axes.plot(columns[x_name].values * factors[0], columns[y_name].values * factors[1], ".", color=ACCENT, markersize=4,
                  rasterized=chosen.scenario.n_rows > MOST_SHAPES, label="Pareto set")
        axes.legend()
    axes.set_title(f"{chosen.scenario.name}: {int(chosen.scenario.facts['feasible']):,} feasible candidates")
    return figure


def refusals(chosen):
    facts = chosen.scenario.facts
    rows = [("feasible", int(facts["feasible"]))] + chosen.scenario.refusals()
    figure, axes = new(6, 0.9 + 0.36 * len(rows))
    names = [title(reason) for reason, _ in rows]
    bars = axes.barh(names, [n for _, n in rows], color=[GOOD] + [BAD] * (len(rows) - 1), height=0.6)
    axes.bar_label(bars, labels=[f"{n:,} ({100 * n / int(facts['candidates']):.3g}%)" for _, n in rows], padding=4,
                   fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.32)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_formatter(lambda value, _: quantity(value, "1"))
    axes.set_xlabel("candidates")
    axes.set_title(f"{chosen.scenario.name}: {int(facts['candidates']):,} distinct candidates")
    return figure


def joint(chosen):
    asked = chosen.result.joint
    if not asked or len(asked["columns"]["mean"].values) == 0:
        return None
    figure, axes = new()
    mean, against = asked["columns"]["mean"], asked["columns"][asked["against"][0]]
    factors = [dress(axes.xaxis, f"mean_{asked['metric']}", mean.units, [mean.values]),
               dress(axes.yaxis, against.name, against.units, [against.values])]
    axes.plot(mean.values * factors[0], against.values * factors[1], "o--", color=SERIES[0], markersize=4, linewidth=1,
              markeredgecolor=INK, markeredgewidth=0.3)
    axes.set_title("one machine for all scenarios")
    return figure
