"""Pictures of where a plan sits: the machine with its groups, and how each tensor is cut (MODEL sections 3 and 5)."""
import math

import numpy
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Rectangle

from report.style import ACCENT, CLOUD, INK, MUTED, SERIES, new, plt
from report.units import number, quantity, title

MOST_PES = 2048  # drawn; the SIPs that follow look the same
AXIS_NAME = {"tp": "TP rank", "cp": "CP rank", "pp": "pipeline stage", "dp": "DP replica"}
GROUP_COLOUR = {"tp": ACCENT, "cp": SERIES[0], "pp": SERIES[2], "dp": SERIES[4]}


def grid_of(n, topology):
    """(across, down, place of a node, neighbours): the most square grid on its side, a ring of many as a snake."""
    short = next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    across = n // short
    if topology in ("mesh2d", "torus2d"):
        links = [(i, i + 1) for i in range(n) if i % short < short - 1] + [(i, i + short) for i in range(n - short)]
        return across, short, lambda i: (i // short, i % short), links
    if short == 1 and n > 8:
        across = math.ceil(math.sqrt(2 * n))

    def snake(i):
        line, place = divmod(i, across)
        return (across - 1 - place if line % 2 and topology == "ring" else place), line
    links = [(i, i + 1) for i in range(n - 1)] if topology == "ring" else []
    return across, -(-n // across), snake, links


def ranks_of(pe, placement):
    """Coordinates along the axes, None where no rank sits."""
    ranks = {}
    for axis in sorted((one for one in placement if one["ranks"] > 1), key=lambda one: -one["stride"]):
        ranks[axis["axis"]], pe = divmod(pe, axis["stride"])
        if ranks[axis["axis"]] >= axis["ranks"]:
            return None
    return ranks if pe == 0 else None


class Drawing:
    """Boxes and links from the inside out: PEs of size 1 in cubes in SIPs."""

    def __init__(self, details):
        hardware, self.placement = details["hardware"], details["placement"]
        self.pes, self.cubes = hardware["pes_per_cube"], hardware["cubes_per_sip"]
        self.shown = max(1, min(details["layout"]["sips"], MOST_PES // (self.pes * self.cubes)))
        topology = [hardware["links"][level]["topology"] for level in ("pe", "d2d", "c2c")]
        self.pe, self.cube, self.sip = (grid_of(n, kind) for n, kind in zip((self.pes, self.cubes, self.shown), topology))
        self.cube_size = (1.35 * self.pe[0] + 0.65, 1.35 * self.pe[1] + 0.65)
        self.sip_size = tuple(self.cube[i] * (self.cube_size[i] + 0.9) + 0.9 for i in (0, 1))
        self.squares, self.boxes, self.links = [], [], []

    def place(self):
        step = tuple(size + 1.6 for size in self.sip_size)
        self.link(self.sip, self.shown, (0, 0), step, self.sip_size, 1.6)
        for sip in range(self.shown):
            corner = tuple(self.sip[2](sip)[i] * step[i] for i in (0, 1))
            self.boxes.append((corner, self.sip_size))
            self.place_cubes(sip, corner)
        return self.sip[0] * step[0], self.sip[1] * step[1]

    def place_cubes(self, sip, corner):
        start, step = tuple(at + 0.9 for at in corner), tuple(size + 0.9 for size in self.cube_size)
        self.link(self.cube, self.cubes, start, step, self.cube_size, 1.0)
        for cube in range(self.cubes):
            place = tuple(start[i] + self.cube[2](cube)[i] * step[i] for i in (0, 1))
            self.boxes.append((place, self.cube_size))
            for pe in range(self.pes):
                at = self.pe[2](pe)
                self.squares.append(((sip * self.cubes + cube) * self.pes + pe,
                                     (place[0] + 0.5 + 1.35 * at[0], place[1] + 0.5 + 1.35 * at[1])))

    def link(self, grid, n, start, step, size, width):
        def middle(i):
            return tuple(start[d] + grid[2](i)[d] * step[d] + size[d] / 2 for d in (0, 1))
        self.links += [(middle(i), middle(j), width) for i, j in grid[3] if max(i, j) < n]


def square_colours(drawing, axis):
    n = axis["ranks"] if axis else 1
    for pe, _ in drawing.squares:
        ranks = ranks_of(pe, drawing.placement)
        if ranks is None:
            yield "white"
        elif not axis:
            yield SERIES[0]
        else:
            rank = ranks[axis["axis"]]
            yield SERIES[rank] if n <= len(SERIES) else plt.cm.viridis(rank / (n - 1))


def square_edges(drawing):
    """Groups of rank 0: the ranks that differ from it along one axis only."""
    for pe, _ in drawing.squares:
        ranks = ranks_of(pe, drawing.placement)
        apart = None if ranks is None else [axis for axis, rank in ranks.items() if rank]
        yield CLOUD if apart is None else INK if not apart else GROUP_COLOUR[apart[0]] if len(apart) == 1 else "none"


def group_text(axis):
    span = "×".join(str(n) for n in axis["span"])
    return f"{title(axis['axis'])} group of rank 0: {axis['ranks']} ranks, span {span}"


def machine(chosen):
    details = chosen.details()
    drawing = Drawing(details)
    width, height = drawing.place()
    spread = [one for one in drawing.placement if one["ranks"] > 1]
    axis = next((one for one in spread if one["axis"] == "cp"), spread[0] if spread else None)
    scale = min(0.16, 11 / width)
    figure, axes = new(max(5, scale * width + 0.4), max(2.2, scale * height + 1.2))
    axes.add_collection(LineCollection([[a, b] for a, b, _ in drawing.links], linewidths=[w for _, _, w in drawing.links],
                                       colors=MUTED, zorder=1))
    axes.add_collection(PatchCollection([Rectangle(corner, *size) for corner, size in drawing.boxes], facecolor="white",
                                        edgecolor=CLOUD, linewidth=0.7, zorder=2))
    axes.add_collection(PatchCollection([Rectangle(at, 1, 1) for _, at in drawing.squares],
                                        facecolor=list(square_colours(drawing, axis)),
                                        edgecolor=list(square_edges(drawing)), linewidth=0.9, zorder=3))
    axes.set(xlim=(-0.8, width), ylim=(height, -0.8), aspect="equal")
    axes.axis("off")
    links = details["hardware"]["links"]
    pe, d2d, c2c = (title(links[level]["topology"]) for level in ("pe", "d2d", "c2c"))
    sips = details["layout"]["sips"]
    text = f"{drawing.pes} PEs per cube ({pe}), {drawing.cubes} cubes per SIP ({d2d}), {sips} SIPs ({c2c})"
    axes.set_title(chosen.heading(text))
    groups = [plt.Line2D([], [], marker="s", linestyle="", markerfacecolor="none", markeredgewidth=1.5,
                         markeredgecolor=GROUP_COLOUR[one["axis"]], label=group_text(one)) for one in spread]
    if axis:
        axes.legend(handles=groups, loc="upper left", bbox_to_anchor=(0, 0), ncols=2,
                    title=f"filled by {AXIS_NAME[axis['axis']]}; span in PEs × cubes × SIPs", alignment="left")
    return figure


# ---- tensors --------------------------------------------------------------------------------------------------------

def ways(side):
    return math.prod(side.get("cuts", {}).values())


def side_text(side):
    cuts = " × ".join(f"{title(by)} {n}" for by, n in side.get("cuts", {}).items())
    return f"{side['size']:,} {side['of']}" + (f" ÷ {cuts} = {number(side['share'], 6)}" if cuts else "")


def draw_tensor(axes, tensor, length):
    rows, columns, stack = tensor["rows"], tensor["columns"], tensor.get("stack")
    w, h = length(columns["size"]), length(rows["size"])
    for sheet in range(min(stack["size"], 4) - 1 if stack else 0, 0, -1):
        axes.add_patch(Rectangle((0.05 * sheet, -0.05 * sheet), w, h, facecolor="white", edgecolor=MUTED, linewidth=0.6))
    axes.add_patch(Rectangle((0, 0), w, h, facecolor="white", edgecolor=MUTED, linewidth=0.8))
    for n, draw in ((ways(columns), lambda at: ([at * w] * 2, [0, h])), (ways(rows), lambda at: ([0, w], [at * h] * 2))):
        for i in range(1, min(n, 24)):
            axes.plot(*draw(i / min(n, 24)), color=MUTED, linewidth=0.4)
    axes.add_patch(Rectangle((0, 0), max(0.03, w * columns["share"] / columns["size"]),
                             max(0.03, h * rows["share"] / rows["size"]), color=ACCENT, zorder=4))
    lines = [side_text(side) for side in (stack, rows, columns) if side]
    lines.append(f"{quantity(tensor['share_bytes'], 'bytes')} of {quantity(tensor['bytes'], 'bytes')}")
    copies = [f"{number(n)} {name}" for n, name in zip(tensor["copies"], ("TP", "CP", "DP")) if n > 1]
    lines.append("on " + " × ".join(copies) + " ranks alike" if copies else "kept once")
    axes.text(0, h + 0.06, "\n".join(lines), va="top", fontsize=6.5, color=MUTED)
    axes.set(xlim=(-0.05, 1.6), ylim=(1.75, -0.2), aspect="equal")
    axes.axis("off")
    axes.set_title(tensor["tensor"].replace("_", " "), fontsize=8)


def tensors(chosen):
    parts = chosen.details()["tensors"]
    top = math.log(max(side["size"] for tensor in parts for side in (tensor["rows"], tensor["columns"])))

    def length(size):
        return 0.13 + 1.05 * (math.log(max(size, 1.5)) / top) ** 2.2
    columns = min(5, len(parts))
    figure, places = new(2.2 * columns, 2.5 * -(-len(parts) // columns), ncols=columns, nrows=-(-len(parts) // columns),
                         squeeze=False)
    for axes in places.flat:
        axes.axis("off")
    for axes, tensor in zip(numpy.ravel(places), parts):
        draw_tensor(axes, tensor, length)
    figure.suptitle(f"{chosen.scenario.name}, row {chosen.row}: one PE's share of each tensor", fontsize=10)
    return figure
