#!/bin/sh
# Builds into a folder: scripts/build.sh [FOLDER [CMAKE OPTIONS]]; FOLDER is `build` beside this folder by default.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build}
[ $# -eq 0 ] || shift
cmake -S "$root" -B "$folder" "$@" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 5; }
rm -f "$folder.log"
cmake --build "$folder" --parallel "$(nproc)"
