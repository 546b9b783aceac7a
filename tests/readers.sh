#!/bin/sh
# A result opens in every program that people read HDF5 with: h5py, h5dump, and where they are installed ncdump, netCDF4,
# and xarray with both engines; also where nothing was feasible and the Pareto set has no rows.
set -eu

program=$1
data=$(cd "$(dirname "$0")/transcripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$program" run "$data/small.yaml" -o "$work/some.h5" --progress none >/dev/null
code=0
"$program" run "$data/small.yaml" -o "$work/none.h5" --progress none --set limits.latency=1ns >/dev/null 2>&1 || code=$?
[ $code = 3 ] || { echo "readers.sh: nothing feasible gave exit code $code, not 3" >&2; exit 1; }

for file in "$work/some.h5" "$work/none.h5"; do
    h5dump -H "$file" >/dev/null
    if command -v ncdump >/dev/null; then
        ncdump "$file" >/dev/null
    fi
    /usr/bin/python3 - "$file" <<'PYTHON'
import sys

import h5py

path = sys.argv[1]
groups = []


def check(name, node):
    """Every dataset says what it is, and every dimension has its scale."""
    if isinstance(node, h5py.Group):
        groups.append(name)
        return
    for attribute in ("units", "long_name"):
        assert isinstance(node.attrs[attribute], str) and node.attrs[attribute], (name, attribute)
    if h5py.h5ds.is_scale(node.id):
        return
    for dimension, length in zip(node.dims, node.shape):
        assert len(dimension) == 1 and dimension[0].shape == (length,), name


with h5py.File(path, "r") as result:
    result.visititems(check)
    rows = result["scenarios/decode-8k/pareto/row"].shape[0]
    assert (rows > 0) == path.endswith("some.h5"), rows
    latency = result["scenarios/decode-8k/pareto/latency"][:]

try:
    import netCDF4
except ImportError:
    pass
else:
    with netCDF4.Dataset(path) as result:
        assert (result["scenarios/decode-8k/pareto/latency"][:] == latency).all()
try:
    import xarray
except ImportError:
    sys.exit()
for engine in ("netcdf4", "h5netcdf"):
    if engine not in xarray.backends.list_engines():
        continue
    for group in ["/"] + groups:
        with xarray.open_dataset(path, group=group, engine=engine) as opened:
            opened.load()
    with xarray.open_dataset(path, group="scenarios/decode-8k/pareto", engine=engine) as front:
        assert front.sizes["row"] == rows and (front.latency.values == latency).all()
        assert rows == 0 or len(front.drop_dims("stage").to_dataframe()) == rows
PYTHON
done
