#!/usr/bin/python3
"""Whether configs/README.md says what is in a result: schema.py README RESULT...

Every group, dataset and attribute of every result must be in the page's tables with its dimensions, type, units and
meaning; and everything in the tables must be in one of the results.
"""
import itertools
import re
import sys

import h5py

SCALE_ATTRIBUTES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}    # of HDF5 dimension scales
NOT_EVERYWHERE = {("/", "revision")}    # only where the program was built from a repository
CURVE_KNOBS = ["tp", "cp", "pp", "dp", "ep"]
SHOWN = 20


def read_tables(path):
    """Heading -> rows of its table, cells without backquotes."""
    tables, heading = {}, None
    with open(path, encoding="utf-8") as page:
        for line in page:
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
            elif line.startswith("|"):
                cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
                tables.setdefault(heading, []).append(cells)
    return {heading: rows[2:] for heading, rows in tables.items()}    # without the table's head


class Page:
    """The page's tables, its placeholders filled in for the scenarios of one result."""

    def __init__(self, tables, scenarios):
        plan, machine = ({row[0]: row[1:] for row in tables[kind]} for kind in ("Plan knobs", "Hardware knobs"))
        metrics = {row[0]: row[1:] + [""] for row in tables["Metrics"]}
        self.facts = {**plan, **machine, **metrics}
        names = {"NAME": scenarios, "PLAN_KNOB": plan, "HARDWARE_KNOB": machine, "KNOB": {**plan, **machine},
                 "CURVE_KNOB": CURVE_KNOBS, "METRIC": metrics, "A": metrics, "B": metrics}
        self.names = names
        self.datasets, self.groups, self.attributes = {}, {"/": set()}, {}
        for heading, rows in tables.items():
            if heading.startswith("/"):
                for row in rows:
                    self.add_dataset(heading + row[0], row)
        for row in tables["Attributes"]:
            for path, _ in self.expand(row[0]) if row[0].startswith("/") else [(row[0], {})]:
                self.attributes.setdefault(path, {})[row[1]] = (row[2], row[3] == "yes", (row[0], row[1]))

    def expand(self, pattern):
        """Every path that a pattern stands for, with what its placeholders are there."""
        words = re.findall(r"(?<![A-Za-z])(?:NAME|(?:PLAN_|HARDWARE_|CURVE_)?KNOB|METRIC|A|B)(?![A-Za-z])", pattern)
        for values in itertools.product(*(self.names[word] for word in words)):
            path = pattern
            for word, value in zip(words, values):
                path = re.sub(rf"(?<![A-Za-z]){word}(?![A-Za-z])", value, path, count=1)
            yield path, dict(zip(words, values))

    def add_dataset(self, pattern, row):
        for path, filled in self.expand(pattern):
            of = next((filled[word] for word in filled if word.endswith(("KNOB", "METRIC"))), None)
            facts = self.facts.get(of)
            kind, units, meaning, codes = row[2], row[3], row[4], None
            if kind.startswith("of the"):
                kind, units, meaning, codes = facts[0], facts[1], facts[2], facts[3]
                kind += " code" if codes else ""
            for letter in ("A", "B"):
                if letter in filled:
                    units = self.facts[filled[letter]][1] if units == f"of {letter}" else units
                    meaning = re.sub(rf"\b{letter}\b", filled[letter], meaning)
            dimensions = tuple(row[1].split(", ")) if row[1] else ()
            self.datasets[path] = (dimensions, kind, units, meaning, codes, pattern)
            group = path.rpartition("/")[0]
            while group:
                self.groups.setdefault(group, set()).add(pattern)
                group = group.rpartition("/")[0]


def text_type(dtype):
    return "text" if h5py.check_string_dtype(dtype) else str(dtype)


class Check:
    def __init__(self, tables):
        self.tables, self.problems, self.seen, self.wanted = tables, [], set(), set()

    def attributes(self, node, page, keys):
        there = {name for name in node.attrs if name not in SCALE_ATTRIBUTES}
        known = {}
        for key in keys:
            known.update(page.attributes.get(key, {}))
        for name in there - known.keys():
            self.problems.append(f"{node.name}@{name} is not in the page")
        for name, (kind, always, entry) in known.items():
            if name not in there:
                if always:
                    self.problems.append(f"{node.name}@{name} is missing")
                continue
            self.seen.add(entry)
            if text_type(node.attrs.get_id(name).dtype) != kind:
                self.problems.append(f"{node.name}@{name}: {node.attrs.get_id(name).dtype}, in the page {kind}")

    def dataset(self, node, page):
        if node.name not in page.datasets:
            self.problems.append(f"{node.name} is not in the page")
            return
        dimensions, kind, units, meaning, codes, pattern = page.datasets[node.name]
        self.seen.add(pattern)
        code = kind.endswith(" code")
        scale = h5py.h5ds.is_scale(node.id)
        own = node.name.rpartition("/")[2]
        got = (own,) if scale else tuple(dimension[0].name.rpartition("/")[2] for dimension in node.dims)
        if units == "of the joint metric":
            units = page.facts[node.parent.attrs["metric"]][1]
        facts = [("dimensions", got, dimensions), ("type", text_type(node.dtype), kind.replace(" code", "")),
                 ("units", node.attrs["units"], units), ("long_name", node.attrs["long_name"], meaning)]
        if codes is not None:
            facts.append(("codes", node.attrs.get("flag_meanings", ""), codes))
        for what, here, there in facts:
            if here != there:
                self.problems.append(f"{node.name}: {what} {here!r}, in the page {there!r}")
        self.attributes(node, page, ["every dataset"] + (["every code"] if code else []))

    def result(self, path):
        with h5py.File(path, "r") as result:
            page = Page(self.tables, list(result["scenarios"]))

            def visit(_, node):
                if isinstance(node, h5py.Dataset):
                    self.dataset(node, page)
                    return
                if node.name not in page.groups:
                    self.problems.append(f"{node.name} is not in the page")
                self.attributes(node, page, [node.name])

            self.attributes(result, page, ["/"])
            result.visititems(visit)
            self.wanted |= {entry[5] for entry in page.datasets.values()}
            self.wanted |= {a[2] for attributes in page.attributes.values() for a in attributes.values()}


def main(readme, *results):
    check = Check(read_tables(readme))
    for path in results:
        check.result(path)
    for entry in check.wanted - check.seen - NOT_EVERYWHERE:
        where = entry if isinstance(entry, str) else "@".join(entry)
        check.problems.append(f"{where} is in the page and in no result")
    for line in sorted(check.problems)[:SHOWN]:
        print("schema.py:", line)
    if len(check.problems) > SHOWN:
        print(f"schema.py: ... and {len(check.problems) - SHOWN} more")
    return 1 if check.problems else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
