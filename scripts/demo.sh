#!/bin/sh
# Installs what is missing, builds, sweeps a 70B model at 128k context on all cores, and leaves in the current folder
# (or in the one given) the result and a picture of its Pareto set.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-.}
mkdir -p "$out"

"$root/scripts/install.sh"
"$root/scripts/build.sh" "$root/build"
"$root/build/cosweep" run "$root/configs/llama70b-decode-128k.yaml" -o "$out/llama70b-decode-128k.h5" --force
/usr/bin/python3 "$root/scripts/plot_pareto.py" "$out/llama70b-decode-128k.h5" "$out/llama70b-decode-128k.png"
echo "result:  $out/llama70b-decode-128k.h5  (cosweep show, h5py, xarray, ncdump)"
echo "picture: $out/llama70b-decode-128k.png"
