#!/usr/bin/python3
"""Holds the model against published measurements: errors per source may not grow.  published.py PROGRAM [--write]

tests/data/published.csv has the rows with their sources, published_errors.csv the mean absolute error per source that was
last accepted.  --write records the errors of now, which is a decision to explain in the commit."""

import csv
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "scripts"))
sys.dont_write_bytecode = True
from validate import Engine, published, read  # noqa: E402

TOLERANCE = 0.002  # of the measured value: rounding of the recorded figure


def mean_errors(program):
    errors, unknown = {}, []  # rows that nothing predicts are missed by their count
    for result in published(Engine(program), read(os.path.join(here, "data"), "published.csv"), unknown):
        errors.setdefault(result.source, []).append(abs(result.error("model")))
    return {source: (len(list_of), sum(list_of) / len(list_of)) for source, list_of in errors.items()}


def main():
    now, path = mean_errors(sys.argv[1]), os.path.join(here, "data", "published_errors.csv")
    if sys.argv[2:] == ["--write"]:
        with open(path, "w") as file:
            file.write("source,rows,mean_absolute_error\n")
            for source, (rows, error) in sorted(now.items()):
                file.write('"%s",%d,%.4f\n' % (source, rows, error))
        return
    failed = 0
    with open(path, newline="") as file:
        accepted = {row["source"]: (int(row["rows"]), float(row["mean_absolute_error"])) for row in csv.DictReader(file)}
    for source in sorted(set(now) | set(accepted)):
        rows, error = now.get(source, (0, 0.0))
        if source not in accepted or rows != accepted[source][0] or error > accepted[source][1] + TOLERANCE:
            print("%s: %d rows, mean error %.2f%%; accepted: %s" % (source, rows, 100 * error, accepted.get(source)))
            failed += 1
    print("%d passed, %d failed" % (len(now) - failed, failed))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
