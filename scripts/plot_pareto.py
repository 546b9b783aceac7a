#!/usr/bin/python3
"""Draw the Pareto set of every scenario of a result: plot_pareto.py RESULT.h5 PICTURE.png

First objective against the second; colour is the third objective, or the number of PEs."""

import sys

import h5py
import matplotlib

matplotlib.use("Agg")  # no display on a cluster
import matplotlib.pyplot as plt
from matplotlib.ticker import LogFormatter


def values_and_label(column):
    """Numbers and the name of an axis; seconds as milliseconds, which is what a token takes."""
    units = column.attrs["units"]
    scale, units = (1e3, "ms") if units == "s" else (1, units)
    name = column.name.rsplit("/", 1)[1].replace("_", " ")
    return column[:] * scale, name if units == "1" else f"{name} [{units}]"


def draw_scenario(axes, name, scenario, objectives):
    front = scenario["pareto"]
    across, across_label = values_and_label(front[objectives[0]])
    up, up_label = values_and_label(front[objectives[1]])
    colour, colour_label = values_and_label(front[objectives[2] if len(objectives) > 2 else "pes"])
    axes.set_title(f"{name}: {scenario.attrs['model']}, {scenario.attrs['phase']}", fontsize=10)
    axes.set_xlabel(across_label)
    axes.set_ylabel(up_label)
    if len(across) == 0:
        axes.text(0.5, 0.5, "nothing feasible", ha="center", transform=axes.transAxes)
        return
    points = axes.scatter(across, up, c=colour, s=14, cmap="viridis", norm="log" if min(colour) > 0 else None)
    for axis, set_scale, values in ((axes.xaxis, axes.set_xscale, across), (axes.yaxis, axes.set_yscale, up)):
        if min(values) > 0:
            set_scale("log")
            axis.set_major_formatter("{x:g}")
            if max(values) < 30 * min(values):  # a decade or less would have one number
                axis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
    axes.grid(True, which="both", alpha=0.2)
    axes.figure.colorbar(points, ax=axes, label=colour_label)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with h5py.File(sys.argv[1], "r") as result:
        objectives = result.attrs["objectives"].split()
        scenarios = result["scenarios"]
        n = len(scenarios)
        figure, axes = plt.subplots(1, n, figsize=(6.5 * n, 4.8), squeeze=False, constrained_layout=True)
        figure.suptitle(result.attrs["title"])
        for place, name in zip(axes[0], scenarios):
            draw_scenario(place, name, scenarios[name], objectives)
        figure.savefig(sys.argv[2], dpi=150)


if __name__ == "__main__":
    main()
