#!/usr/bin/python3
"""Draw the Pareto set of every scenario of a result: plot_pareto.py RESULT.h5 PICTURE.png

First objective against the second; colour is the third objective, or the number of PEs."""

import sys

import h5py
import matplotlib

matplotlib.use("Agg")  # no display on a cluster
import matplotlib.pyplot as plt


def axis_label(column):
    units = column.attrs["units"]
    name = column.name.rsplit("/", 1)[1].replace("_", " ")
    return name if units == "1" else f"{name} [{units}]"


def draw_scenario(axes, name, scenario, objectives):
    front = scenario["pareto"]
    across, up = front[objectives[0]], front[objectives[1]]
    colour = front[objectives[2] if len(objectives) > 2 else "pes"]
    axes.set_title(f"{name}: {scenario.attrs['model']}, {scenario.attrs['phase']}", fontsize=10)
    axes.set_xlabel(axis_label(across))
    axes.set_ylabel(axis_label(up))
    if across.shape[0] == 0:
        axes.text(0.5, 0.5, "nothing feasible", ha="center", transform=axes.transAxes)
        return
    logarithmic = min(colour[:]) > 0
    points = axes.scatter(across[:], up[:], c=colour[:], s=14, cmap="viridis", norm="log" if logarithmic else None)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(True, which="both", alpha=0.2)
    axes.figure.colorbar(points, ax=axes, label=axis_label(colour))


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
