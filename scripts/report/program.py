"""What only the program knows of a result's rows: cosweep explain, glossary, size, compare as JSON."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import tempfile

from report.result import kind


def pinned(scenario, row, keys):
    """Options that make a study's first candidate this row."""
    def setting(column, key):
        value = column.values[row]
        return "%s=%s" % (key, column.words[int(value)] if column.words else repr(value.item()))
    columns = scenario.columns.values()
    hardware = [setting(column, keys[column.meaning]) for column in columns
                if column.meaning in keys and (column.values != column.values[0]).any()]
    return ["--plan", ",".join(setting(column, column.name) for column in columns if kind(column.name) == "plan")] + (
        ["--hardware", ",".join(hardware)] if hardware else [])


def find_program(wanted):
    """The program named, or the one built beside these scripts, or the one on PATH."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "cosweep")
    for program in (wanted,) if wanted else (built, "cosweep"):
        if shutil.which(program):
            return program
    raise SystemExit("%s: no such program; build it with scripts/build.sh or give --cosweep PROGRAM" % (wanted or built))


class Program:
    def __init__(self, path):
        self.path = path

    def answer(self, *arguments):
        done = subprocess.run([self.path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode not in (0, 1):
            raise SystemExit("%s %s: exit code %d: %s" % (self.path, " ".join(arguments), done.returncode,
                                                          done.stderr.strip()))
        return done.stdout

    def rows(self, result, scenario, rows, *flags):
        """One JSON line for each of some rows of the Pareto set."""
        if len(rows) == 0:
            return []
        listed = ",".join(map(str, [*rows, rows[-1]]))  # two at least: a row alone would come on many lines
        return self.answer("explain", result.path, "--scenario", scenario.name, "--row", listed, "--json",
                           *flags).splitlines()[:-1]

    def row(self, result, scenario, row):
        return json.loads(self.answer("explain", result.path, "--scenario", scenario.name, "--row", str(row), "--json"))

    def keys(self):
        """Keys of a study file under `hardware`, in the order of a result's columns: {meaning: key}."""
        return {knob["meaning"]: knob["key"] for knob in json.loads(self.answer("hardware", "--knobs", "--json"))}

    def symbols(self, result, scenario, rows, keys):
        """Facts of every symbol, and per row one JSON line with its values by layer kind."""
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            study = os.path.join(folder, "study.yaml")  # quicker to read than the result, once per row
            with open(study, "w", encoding="utf-8") as file:
                file.write(result.study)
            answers = list(pool.map(lambda row: json.loads(self.answer(
                "glossary", study, "--scenario", scenario.name, "--json", *pinned(scenario, row, keys))), rows))
        facts = [{key: symbol[key] for key in ("symbol", "of", "unit", "section", "meaning")}
                 for symbol in (answers[0] if answers else [])]
        return facts, [json.dumps([[[value["value"], value["definition"]] for value in symbol["values"]]
                                   for symbol in answer], separators=(",", ":")) for answer in answers]

    def compare(self, old, new):
        """What `cosweep compare` says of two results, None where it finds nothing to compare."""
        done = subprocess.run([self.path, "compare", old.path, new.path, "--results", "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        return json.loads(done.stdout) if done.returncode in (0, 1) and done.stdout else None


def study_beside(path):
    """The study file a result lies beside, if there is one: same name, .yaml or .yml."""
    stem = re.sub(r"\.h5$|\.hdf5$", "", path)
    return next((stem + suffix for suffix in (".yaml", ".yml") if os.path.exists(stem + suffix)), None)


def study_warning(program, result, path):
    """A sentence where the study file no longer asks what the result answers."""
    done = subprocess.run([program.path, "size", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    name = os.path.basename(path)
    if done.returncode != 0:
        return f"{name} beside this result cannot be read any more: {done.stderr.strip().splitlines()[0]}"
    if json.loads(done.stdout)["study_hash"] != result.facts["study_hash"]:
        return f"{name} has changed since this result was computed: run it again for current numbers."
    return None
