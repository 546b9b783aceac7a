#!/usr/bin/python3
"""Draws one panel of a result for a paper: PNG, PDF or SVG by the suffix.

    plot.py KIND RESULT [--scenario NAME] [--row N]... [--cosweep PROGRAM] -o FILE
    plot.py --list
"""
import argparse
import sys

from report import pictures
from report.program import Program, find_program
from report.result import Result


def main():
    if sys.argv[1:] == ["--list"]:
        for kind, (meaning, _) in pictures.KINDS.items():
            print(f"{kind:14} {meaning}")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", metavar="KIND", choices=pictures.KINDS, help="one of --list")
    parser.add_argument("result", metavar="RESULT", help="result file of cosweep run")
    parser.add_argument("--scenario", metavar="NAME", help="the first by default")
    parser.add_argument("--row", type=int, action="append", metavar="N",
                        help="row of the Pareto set, by default that of the lowest latency; repeat it to compare")
    parser.add_argument("--cosweep", metavar="PROGRAM",
                        help="the program, for pipeline, memory, machine, tensors; by default the one built here or on PATH")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="ends in .png, .pdf or .svg")
    arguments = parser.parse_args()
    if not arguments.output.endswith((".png", ".pdf", ".svg")):
        parser.error("-o %s: ends in none of .png, .pdf, .svg" % arguments.output)
    result = Result(arguments.result)
    chosen = pictures.Chosen(result, result.scenario(arguments.scenario), arguments.row,
                             lambda: Program(find_program(arguments.cosweep)))
    figure = pictures.draw(arguments.kind, chosen)
    if figure is None:
        sys.exit("%s: scenario %s holds nothing for `%s`; see `population` and `sensitivity` of the study" % (
            arguments.result, chosen.scenario.name, arguments.kind))
    pictures.save(figure, arguments.output)


if __name__ == "__main__":
    main()
