"""The README's three lines of Python per library, run on a real result: reading.py RESULT"""
import importlib.util
import sys

path = sys.argv[1]


def read_h5py():
    import h5py
    pareto = h5py.File(path, "r")["scenarios/decode-8k/pareto"]
    return dict(zip(pareto["latency"][:], pareto["cost"][:]))


def read_pandas():
    import h5py, pandas
    pareto = h5py.File(path, "r")["scenarios/decode-8k/pareto"]
    frame = pandas.DataFrame({name: column[:] for name, column in pareto.items() if column.shape == pareto["row"].shape})
    return dict(zip(frame.latency, frame.cost))


def read_xarray():
    import xarray
    pareto = xarray.open_dataset(path, group="scenarios/decode-8k/pareto")
    return dict(zip(pareto.latency.values, pareto.cost.values))


read = {"h5py": read_h5py, "pandas": read_pandas, "xarray": read_xarray}
fronts = {}
for name, reader in read.items():
    if importlib.util.find_spec(name) is None:
        print(f"reading.py: python3-{name} is not installed: skipped")
    else:
        fronts[name] = reader()
for name, front in fronts.items():
    if not front or front != fronts["h5py"]:
        sys.exit(f"reading.py: {name} reads another Pareto set than h5py: {front}")
print("read alike:", " ".join(fronts))
