"""A result file as the panels need it (DESIGN section 4): columns with units and meanings, per scenario."""
import numpy
import h5py

from report.units import is_share, quantity

PLAN = ("tp", "cp", "pp", "dp", "ep", "batch", "tp_placement", "cp_placement", "ring", "kv_mode", "attention_scope",
        "ffn_scope", "moe_exchange")
# MODEL section 9: metrics in the order of the table, and which of them are better high.
METRICS = ("latency", "throughput", "throughput_per_pe", "interactivity", "pes", "cubes", "sips", "hbm_utilization",
           "efficiency", "energy_per_token", "power", "cost", "cost_per_token")
HIGH = ("throughput", "throughput_per_pe", "interactivity", "efficiency")


class Column:
    """Values with what the file says of them; words where they are codes."""

    def __init__(self, dataset):
        self.name = dataset.name.rsplit("/", 1)[1]
        self.values = dataset[()]
        self.meaning = dataset.attrs["long_name"]
        self.units = "%" if is_share(self.name) else dataset.attrs["units"]
        self.words = dataset.attrs["flag_meanings"].split() if "flag_meanings" in dataset.attrs else None

    def say(self, value):
        return self.words[int(value)] if self.words else quantity(float(value), self.units)

    def text(self, i):
        return self.say(self.values[i])


def kind(name):
    """Which part of a row a column is."""
    if name in PLAN:
        return "plan"
    if name in METRICS:
        return "metric"
    return "row" if name in ("id", "n_equal") else "memory" if name.endswith("_bytes") else "hardware"


def in_order(group):
    """Members as they were written; h5py alone would sort them by name."""
    names = []
    group.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)
    return {name.decode(): group[name.decode()] for name in names}


def columns(group):
    """Every column of a group by name; tables over two dimensions, too."""
    return {name: Column(dataset) for name, dataset in in_order(group).items() if isinstance(dataset, h5py.Dataset)}


class Scenario:
    """One group of /scenarios; what was not asked for is None or empty."""

    def __init__(self, name, group):
        def part(key):
            return columns(group[key]) if key in group else None

        self.name, self.facts = name, dict(group.attrs)
        everything = columns(group["pareto"])
        self.stage, self.stage_time, self.stage_bound = (everything.pop(key) for key in
                                                         ("stage", "stage_time", "stage_bound"))
        self.columns = everything
        self.n_rows = len(everything.pop("row").values)
        self.refused, self.sample = part("refused"), part("sample")
        self.doubling, self.elasticity = part("doubling"), part("elasticity")
        self.curves = {knob: columns(curve) for knob, curve in in_order(group["parallelism"]).items()} \
            if "parallelism" in group else {}
        self.effects = {knob: (columns(effect), float(numpy.ravel(effect.attrs["variance_share"])[0]))
                        for knob, effect in in_order(group["main_effects"]).items()} if "main_effects" in group else {}
        self.histograms = {tuple(member.attrs["metrics"].split()): columns(member)
                           for key, member in in_order(group).items() if key.startswith("histogram_")}
        self.best = int(self.facts.get("best_row", -1))

    def refusals(self):
        """(reason, candidates) of the reasons that occurred, most first."""
        counted = zip(self.refused["reason"].words, self.refused["count"].values)
        return sorted(((reason, int(n)) for reason, n in counted if n > 0), key=lambda pair: -pair[1])


def open_result(path):
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise SystemExit(f"{path}: cannot be read: {error}; give a result file of cosweep run") from None
    if file.attrs.get("format") != "cosweep result":
        raise SystemExit(f"{path}: is no result of cosweep run")
    return file


class Result:
    """A whole file."""

    def __init__(self, path):
        self.path = path
        with open_result(path) as file:
            self.facts = {key: value for key, value in file.attrs.items()}
            self.study = file["study"][()].decode()
            self.objectives = self.facts["objectives"].split()
            self.scenarios = [Scenario(name, group) for name, group in in_order(file["scenarios"]).items()]
            self.performance = columns(file["performance"])
            self.joint = self.read_joint(file["joint"]) if "joint" in file else None
            self.rounds = columns(file["rounds"]) if "rounds" in file else None

    @staticmethod
    def read_joint(group):
        return {"metric": group.attrs["metric"], "against": group.attrs["against"].split(),
                "weights": [float(weight) for weight in numpy.ravel(group.attrs["weights"])],
                "columns": columns(group),
                "scenarios": {name: columns(member) for name, member in in_order(group["scenarios"]).items()}}

    def scenario(self, name):
        if name is None:
            return self.scenarios[0]
        for scenario in self.scenarios:
            if scenario.name == name:
                return scenario
        raise SystemExit("%s: has no scenario `%s`; it has %s" % (
            self.path, name, ", ".join(scenario.name for scenario in self.scenarios)))


def front(x, y, x_high, y_high):
    """Rows that no other row beats in both columns, from low x to high: where the dashed line goes."""
    x_low, y_low = numpy.where(x_high, -x, x), numpy.where(y_high, -y, y)
    kept, best = [], numpy.inf
    for i in numpy.lexsort((y_low, x_low)):
        if y_low[i] < best:
            kept.append(int(i))
            best = y_low[i]
    return sorted(kept, key=lambda i: x[i])
