#!/usr/bin/python3
"""Writes a result as one page that people read in a browser, without network or server, and its pictures as PNG and PDF.

    report.py RESULT [--previous OLD] [--study FILE] [--cosweep PROGRAM] [--rows N] [--no-pictures] -o DIR

The page is DIR/index.html.  Needs python3-h5py, python3-matplotlib, the program, and echarts: scripts/install.sh report.
"""
import argparse
import os
import sys

from report import page, pictures
from report.program import Program, find_program, study_beside, study_warning
from report.result import Result


def row_lines(program, result, scenario, rows, keys):
    """(symbols, {blob: lines}): what is read in the page when a row is chosen."""
    symbols, of_rows = program.symbols(result, scenario, rows, keys)
    return symbols, {"rows": program.rows(result, scenario, rows, "--hints"),
                     "formulas": program.rows(result, scenario, rows, "--formulas"), "symbols": of_rows}


def gather(arguments, program, result, previous):
    """(data, details) of the page."""
    scenarios, details, keys = [], {}, program.keys()
    alone, change = program.compare(result, result), program.compare(previous, result) if previous else None
    for index, scenario in enumerate(result.scenarios):
        packed = page.pack_scenario(scenario, arguments.rows, keys)
        packed["symbols"], lines = row_lines(program, result, scenario, packed["rows"], keys)
        packed["question"] = program.row(result, scenario, packed["rows"][0])["scenario"] if packed["rows"] else None
        details.update({f"{kind}-{index}": texts for kind, texts in lines.items()})
        old = previous and next((one for one in previous.scenarios if one.name == scenario.name), None)
        packed.update(page.pack_comparison(change if old else alone, scenario, old))
        scenarios.append(packed)
    study = arguments.study or study_beside(result.path)
    warning = study and study_warning(program, result, study)
    facts = {key: str(value) for key, value in result.facts.items() if key not in ("limits", "limit_values")}
    performance = [{"name": one.name, "value": float(one.values), "units": one.units, "meaning": one.meaning}
                   for one in result.performance.values()]
    return {"title": result.facts["title"], "file": os.path.basename(result.path), "facts": facts, "study": result.study,
            "objectives": result.objectives, "performance": performance, "warnings": [warning] if warning else [],
            "previous": {"created": previous.facts["created"], "knobs": change["knobs"] if change else []}
                        if previous else None,
            "joint": page.pack_joint(result.joint), "scenarios": scenarios}, details


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", metavar="RESULT", help="result file of cosweep run")
    parser.add_argument("--previous", metavar="OLD", help="result to say what changed since")
    parser.add_argument("--study", metavar="FILE",
                        help="study file to hold the result against; the one beside RESULT by default")
    parser.add_argument("--cosweep", metavar="PROGRAM", help="the program; by default the one built here, or on PATH")
    parser.add_argument("--rows", type=int, default=2000, metavar="N",
                        help="rows of a Pareto set on the page; default 2000")
    parser.add_argument("--no-pictures", action="store_true", help="only the page")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder; made where it is not there")
    arguments = parser.parse_args()
    program = Program(find_program(arguments.cosweep))
    result = Result(arguments.result)
    previous = Result(arguments.previous) if arguments.previous else None
    data, details = gather(arguments, program, result, previous)
    os.makedirs(arguments.output, exist_ok=True)
    page.write_page(os.path.join(arguments.output, "index.html"), result.facts["title"], data, details)
    if not arguments.no_pictures:
        pictures.write_all(result, program, arguments.output)
    print(os.path.join(arguments.output, "index.html"), file=sys.stderr)


if __name__ == "__main__":
    main()
