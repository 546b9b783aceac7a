"""One self-contained HTML page of a result: data packed as columns, gzip and base64, beside the scripts that draw it."""
import base64
import gzip
import json
import os

import numpy

from report.result import HIGH, kind
from report.units import UNITS, WORDS

FOLDER = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ("units.js", "charts.js", "fronts.js", "sensitivity.js", "effects.js", "table.js", "stages.js", "machine.js",
           "tensors.js", "about.js", "page.js")
SAMPLED = ("latency", "cost", "pes", "hbm_utilization")  # metrics that panels draw of the sample


# ---- packing ------------------------------------------------------------------------------------------------------

def packed(values, form="<f8"):
    """A column as text that becomes a typed array in the page; shape [rows][n] is kept by whoever reads it."""
    return {"kind": form[1:], "data": base64.b64encode(numpy.ascontiguousarray(values, form).tobytes()).decode()}


def squeezed(text):
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def facts_of(column):
    return {"name": column.name, "units": column.units, "meaning": column.meaning, "words": column.words}


def pack_column(column, rows, keys):
    """`key` is the knob's place under `hardware` in a study file."""
    return dict(facts_of(column), group=kind(column.name), key=keys.get(column.meaning), high=column.name in HIGH,
                values=packed(column.values[rows]))


def kept_rows(scenario, most):
    """All rows, or evenly spaced ones along the front where there are more than the page should hold."""
    if scenario.n_rows <= most:
        return numpy.arange(scenario.n_rows)
    rows = numpy.linspace(0, scenario.n_rows - 1, most).astype(int)
    return numpy.unique(numpy.append(rows, max(scenario.best, 0)))


def pack_sensitivity(scenario, rows):
    doubling, elasticity = scenario.doubling, scenario.elasticity
    return {
        "doubling": doubling and {"knobs": doubling["knob"].words, "kept": packed(doubling["plan_kept"].values[rows]),
                                  "chosen": packed(doubling["plan_chosen"].values[rows]),
                                  "another": packed(doubling["chosen_id"].values[rows] !=
                                                    scenario.columns["id"].values[rows, None], "<u1")},
        "elasticity": elasticity and {"resources": elasticity["resource"].words,
                                      "share": packed(elasticity["share"].values[rows])},
        "curves": [dict(facts_of(curve["value"]), name=knob, values=curve["value"].values.tolist(),
                        latency=packed(curve["latency"].values[rows]), memory=packed(curve["memory"].values[rows]),
                        reason=packed(curve["reason"].values[rows], "<u1"), reasons=curve["reason"].words)
                   for knob, curve in scenario.curves.items()],
        "effects": [dict(facts_of(effect["value"]), name=knob, share=share,
                         values=[float(value) for value in effect["value"].values],
                         count=effect["count"].values.tolist(),
                         **{key: packed(effect[key].values) for key in ("min", "mean", "variance")})
                    for knob, (effect, share) in scenario.effects.items()]}


def pack_population(scenario):
    sample, n = scenario.sample, 0
    if sample:
        n = len(sample["id"].values)
        sample = {name: packed(sample[name].values, "<f4") for name in SAMPLED}
    return {
        "n_sample": n, "sample": sample,
        "histograms": [{"metrics": list(metrics),
                        "edges": [packed(numpy.append(part["bin_" + letter].values, part["upper_" + letter].values[-1:]))
                                  for letter in "ab"],
                        "counts": packed(part["counts"].values)} for metrics, part in scenario.histograms.items()],
        "refusals": scenario.refusals()}


def pack_scenario(scenario, most, keys):
    rows = kept_rows(scenario, most)
    counts = {key: value if isinstance(value, str) else int(value) for key, value in scenario.facts.items()}
    return dict({"name": scenario.name, "facts": counts, "rows": rows.tolist(), "n_rows": scenario.n_rows,
                 "best": int(numpy.searchsorted(rows, scenario.best)) if scenario.best >= 0 else -1,
                 "columns": [pack_column(column, rows, keys) for column in scenario.columns.values()],
                 "ids": [str(value) for value in scenario.columns["id"].values[rows]],
                 "stages": scenario.stage.words, "bounds": scenario.stage_bound.words,
                 "stage_time": packed(scenario.stage_time.values[rows]),
                 "stage_bound": packed(scenario.stage_bound.values[rows], "<u1")},
                **pack_sensitivity(scenario, rows), **pack_population(scenario))


def pack_comparison(comparison, scenario, old):
    """Measures before and after; without a previous result both are the same, and only the hypervolume is shown."""
    found = next((one for one in comparison["scenarios"] if one["name"] == scenario.name), None) if comparison else None
    return {"comparison": found and {key: found[key] for key in ("gained", "lost", "moved", "reference", "measures")},
            "previous": old and {name: packed(old.columns[name].values, "<f4") for name in SAMPLED}}


def pack_table(columns):
    return [dict(facts_of(column), values=packed(column.values)) for column in columns.values()
            if column.name not in ("row", "id")]


def pack_joint(joint):
    return joint and {"metric": joint["metric"], "against": joint["against"], "weights": joint["weights"],
                      "columns": pack_table(joint["columns"]),
                      "scenarios": {name: pack_table(columns) for name, columns in joint["scenarios"].items()}}


# ---- the page -----------------------------------------------------------------------------------------------------

def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def read_charts():
    path = os.path.join("node_modules", "echarts", "dist", "echarts.min.js")
    if not os.path.exists(os.path.join(FOLDER, path)):
        raise SystemExit("%s: not there; scripts/install.sh report installs it" % os.path.join(FOLDER, path))
    return read(path)


def script(text, language="text/javascript", name=""):
    """An inline script: nothing in it may look like its end."""
    return '<script type="%s"%s>%s</script>' % (language, f' id="{name}"' if name else "",
                                                text.replace("</script", "<\\/script"))


def write_page(path, title, data, details):
    """`data` is what every panel needs at once; `details[name]` are lines that are read when a row is chosen."""
    data = dict(data, units=UNITS, words=WORDS)
    blobs = {"data": json.dumps(data, allow_nan=False, separators=(",", ":"))}
    blobs.update({name: "\n".join(lines) for name, lines in details.items()})
    page = read("template.html")
    for key, text in (("TITLE", title), ("STYLE", "<style>%s</style>" % read("page.css")),
                      ("DATA", "\n".join(script(squeezed(text), "text/plain", name) for name, text in blobs.items())),
                      ("SCRIPTS", "\n".join([script(read_charts())] + [script(read(name)) for name in SCRIPTS]))):
        page = page.replace("{{%s}}" % key, text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
