#!/bin/sh
# Measures the engine against the bare arithmetic of its model on this machine and prints Markdown tables for the README:
#     scripts/bench.sh [BUILD FOLDER]
# Every figure is a ratio or a rate of one run; on a shared machine run it more than once.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

"$root/scripts/build.sh" "$build" >&2
cc=${CC:-gcc}
$cc -std=c17 -O3 -march=native -mprefer-vector-width=512 -ffp-contract=off -fno-math-errno -fno-trapping-math -fopenmp \
    "$root/scripts/bench/bare_kernel.c" -o "$work/bare_kernel"
$cc -std=c17 -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -I"$root/include" "$root/scripts/bench/parts.c" \
    "$build/libcosweep_model.a" -lm -o "$work/parts"
/usr/bin/python3 "$root/scripts/bench/bench.py" "$build/cosweep" "$work" "$root/configs/llama70b-decode-128k.yaml"
