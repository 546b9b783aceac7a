#!/bin/sh
# A result opens in every program that people read HDF5 with: h5py, h5dump, and where they are installed ncdump, netCDF4,
# and xarray with both engines; with every group there is, with a Pareto set of one row, and of none because nothing was
# feasible.
set -eu

program=$1
data=$(cd "$(dirname "$0")/transcripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

sweep() { # FILE CODE, then overrides
    file=$work/$1.h5 wanted=$2 code=0
    shift 2
    "$program" run "$data/small.yaml" -o "$file" --progress none "$@" >/dev/null 2>&1 || code=$?
    [ $code = "$wanted" ] || { echo "readers.sh: $file: exit code $code, not $wanted" >&2; exit 1; }
}

sweep some 0 --set depth=two_stage --set hardware.pe.hbm_bandwidth=auto --set 'joint={against: [cost, pes]}' \
    --set population.full=true
sweep one 0 --set 'objectives=[latency, interactivity]'
sweep none 3 --set limits.latency=1ns --set 'joint={against: [cost]}' --set population.full=true

for file in "$work/some.h5" "$work/one.h5" "$work/none.h5"; do
    h5dump -H "$file" >/dev/null
    h5diff "$file" "$file"
    if command -v ncdump >/dev/null; then
        ncdump "$file" >/dev/null
    fi
    /usr/bin/python3 - "$file" <<'PYTHON'
import sys

import h5py
import numpy

path = sys.argv[1]
groups, dims, values = ["/"], {}, {}


def look(name, node):
    """Every dataset says what it is, and every dimension has its scale."""
    if isinstance(node, h5py.Group):
        groups.append("/" + name)
        return
    for attribute in ("units", "long_name"):
        assert isinstance(node.attrs[attribute], str) and node.attrs[attribute], (name, attribute)
    own = name.rpartition("/")[2]
    scale = h5py.h5ds.is_scale(node.id)
    for dimension, length in zip(node.dims, node.shape):
        assert scale or len(dimension) == 1 and dimension[0].shape == (length,), name
    dims["/" + name] = (own,) if scale else tuple(d[0].name.rpartition("/")[2] for d in node.dims)
    values["/" + name] = node[()] if own != "study" else node.asstr()[()]


def same(name, read, names):
    assert tuple(names) == dims[name], (name, names, dims[name])
    if name != "/study":
        assert numpy.array_equal(numpy.asarray(read), values[name], equal_nan=True), name


with h5py.File(path, "r") as result:
    result.visititems(look)
rows = len(values["/scenarios/decode-8k/pareto/row"])
assert {"some.h5": rows > 1, "one.h5": rows == 1, "none.h5": rows == 0}[path.rpartition("/")[2]], rows
for name in ("doubling", "elasticity", "parallelism/cp", "sample", "main_effects/tp", "histogram_latency_cost"):
    assert "/scenarios/decode-8k/" + name in groups, name
assert path.endswith("one.h5") or {"/joint/scenarios/decode-8k", "/scenarios/decode-8k/full"} < set(groups)
assert not path.endswith("some.h5") or "/rounds" in groups

try:
    import netCDF4
except ImportError:
    pass
else:
    with netCDF4.Dataset(path) as result:
        result.set_auto_mask(False)
        for name in values:
            same(name, result[name][...], result[name].dimensions)
try:
    import xarray
except ImportError:
    sys.exit()
for engine in ("netcdf4", "h5netcdf"):
    if engine not in xarray.backends.list_engines():
        continue
    seen = 0
    for group in groups:
        with xarray.open_dataset(path, group=group, engine=engine) as opened:
            for name, variable in opened.variables.items():
                same(group.rstrip("/") + "/" + name, variable.values, variable.dims)
                seen += 1
    assert seen == len(values), (engine, seen, len(values))
    with xarray.open_dataset(path, group="/scenarios/decode-8k/pareto", engine=engine) as front:
        assert rows == 0 or len(front.drop_dims("stage").to_dataframe()) == rows
PYTHON
done
