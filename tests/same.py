#!/usr/bin/python3
"""Whether two results say the same: same.py A B

Compares every group, dataset (shape, type, values to the bit) and attribute, but for /performance and the attributes that
say when and by which program a result was made.  Prints what differs; exit code 1 if anything does.
"""
import sys

import h5py
import numpy

PROVENANCE = {"created", "program", "revision", "compiler", "flags", "simd"}
IGNORED_GROUPS = {"performance"}
SCALE_REFERENCES = {"DIMENSION_LIST", "REFERENCE_LIST"}    # addresses in the file; compared by the names they point to
DIFFERENCES_SHOWN = 20


def same_values(a, b):
    """To the bit: NaN equals NaN, 0 is not -0."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def names_in(group):
    return {name for name in group if not (group.name == "/" and name in IGNORED_GROUPS)}


def compare_attributes(a, b, differences):
    ignored = PROVENANCE if a.name == "/" else set()
    names = (set(a.attrs) | set(b.attrs)) - ignored
    for name in sorted(names):
        where = f"{a.name}@{name}"
        if name not in a.attrs or name not in b.attrs:
            differences.append(f"{where}: only in one")
        elif name not in SCALE_REFERENCES and not same_values(a.attrs[name], b.attrs[name]):
            differences.append(f"{where}: {a.attrs[name]!r} and {b.attrs[name]!r}")


def compare_datasets(a, b, differences):
    if a.dtype != b.dtype or a.shape != b.shape:
        differences.append(f"{a.name}: {a.shape} {a.dtype} and {b.shape} {b.dtype}")
    elif not same_values(a[()], b[()]):
        differences.append(f"{a.name}: values differ")
    scales = [[scale.name for d in dataset.dims for scale in d.values()] for dataset in (a, b)]
    if scales[0] != scales[1]:
        differences.append(f"{a.name}: dimension scales {scales[0]} and {scales[1]}")


def compare(a, b, differences):
    """Returns the number of datasets that were compared."""
    compare_attributes(a, b, differences)
    if isinstance(a, h5py.Dataset) != isinstance(b, h5py.Dataset):
        differences.append(f"{a.name}: a dataset in one, a group in the other")
        return 0
    if isinstance(a, h5py.Dataset):
        compare_datasets(a, b, differences)
        return 1
    for name in sorted(names_in(a) ^ names_in(b)):
        differences.append(f"{a.name}/{name}: only in one")
    return sum(compare(a[name], b[name], differences) for name in sorted(names_in(a) & names_in(b)))


def main(paths):
    differences = []
    with h5py.File(paths[0], "r") as a, h5py.File(paths[1], "r") as b:
        n = compare(a, b, differences)
    for line in differences[:DIFFERENCES_SHOWN]:
        print(line)
    if n < 10:
        print(f"only {n} datasets compared: is this a result?")
    return 1 if differences or n < 10 else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
