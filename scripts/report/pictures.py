"""Every picture by its kind: `scripts/plot.py --list` shows them, `scripts/report.py` writes them all."""
import os
import sys

from report import picture_front, picture_machine, picture_row, picture_sensitivity
from report.style import plt

# kind -> (what it shows, function of a Chosen, returns a figure or None where the result has nothing to draw).
KINDS = {
    "latency-cost": ("cost against latency: sample, Pareto set coloured by PEs", picture_front.latency_cost),
    "latency-pes": ("PEs against latency, coloured by efficiency", picture_front.latency_pes),
    "latency-hbm": ("HBM utilization against latency", picture_front.latency_hbm),
    "objectives": ("the study's first two objectives, the third or PEs as colour", picture_front.objectives),
    "histogram": ("density of all feasible candidates over latency and cost", picture_front.histogram),
    "refusals": ("candidates refused, by reason", picture_front.refusals),
    "doubling": ("what doubling each knob is worth for the row", picture_sensitivity.doubling),
    "elasticity": ("shares of the row's latency by resource", picture_sensitivity.elasticity),
    "parallelism": ("latency over each degree of parallelism, the others held", picture_sensitivity.parallelism),
    "main-effects": ("variance each knob explains, and latency over the first of them", picture_sensitivity.main_effects),
    "stages": ("time of the row's stages, coloured by what bounds them", picture_row.stages),
    "compare": ("stages of several rows side by side (--row more than once)", picture_row.compare),
    "pipeline": ("one layer in time, with exchanges and the ring", picture_row.pipeline),
    "memory": ("memory of the fullest PE, and what is kept more than once", picture_row.memory),
    "machine": ("PEs, cubes and SIPs with their links, and which rank sits where", picture_machine.machine),
    "tensors": ("how each tensor is cut, one PE's share filled", picture_machine.tensors),
    "joint": ("one machine for all scenarios: joint front", picture_front.joint),
}


class Chosen:
    """A row of a scenario, and what the program says of it when a picture needs that."""

    def __init__(self, result, scenario, rows, program):
        self.result, self.scenario = result, scenario
        best = max(0, scenario.best)
        for row in rows or ():
            if not 0 <= row < scenario.n_rows:
                raise SystemExit("%s: --row %d: scenario %s has rows 0 to %d" % (result.path, row, scenario.name,
                                                                                scenario.n_rows - 1))
        self.rows = rows or [best]
        self.row = self.rows[0]
        self.program = program
        self.answers = {}

    def details(self):
        """explain --json of the row."""
        if self.row not in self.answers:
            self.answers[self.row] = self.program().row(self.result, self.scenario, self.row)
        return self.answers[self.row]

    def heading(self, text):
        return f"{text}\n{self.scenario.name}, row {self.row}"


def draw(kind, chosen):
    """A figure, or None where the result does not hold what it shows."""
    needs_rows = kind not in ("refusals", "histogram", "main-effects", "joint")
    if needs_rows and chosen.scenario.n_rows == 0:
        return None
    return KINDS[kind][1](chosen)


def save(figure, *paths):
    for path in paths:
        # Without the date two runs write the same bytes.
        stamp = {".svg": "Date", ".pdf": "CreationDate"}.get(os.path.splitext(path)[1])
        figure.savefig(path, metadata={stamp: None} if stamp else None)
    plt.close(figure)


def write_all(result, program, folder):
    """Every kind of every scenario as PNG and PDF."""
    for scenario in result.scenarios:
        chosen = Chosen(result, scenario, None, lambda: program)
        for kind in KINDS:
            if kind == "joint" and scenario is not result.scenarios[0]:
                continue
            figure = draw(kind, chosen)
            if figure:
                name = kind if len(result.scenarios) == 1 or kind == "joint" else f"{scenario.name}-{kind}"
                save(figure, *(os.path.join(folder, name + suffix) for suffix in (".png", ".pdf")))
            else:
                print(f"{scenario.name}: no picture `{kind}`: the result holds nothing for it", file=sys.stderr)
