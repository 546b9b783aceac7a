#!/bin/sh
# Builds quietly into a folder: scripts/build.sh [FOLDER [CMAKE OPTIONS]]; FOLDER is `build` beside this folder by default.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build}
[ $# -eq 0 ] || shift
log=$folder/build.log

echo "building in $folder" >&2
mkdir -p "$folder"
cmake -S "$root" -B "$folder" "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 5; }
cmake --build "$folder" --parallel "$(nproc)" >"$log" 2>&1 || { cat "$log" >&2; exit 5; }
grep 'warning:' "$log" >&2 || true
