#!/bin/sh
# Installs what is missing, builds with warnings as errors, runs every test: scripts/test.sh [BUILD TYPE]
# (Release by default; Debug; Asan).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
type=${1:-Release}
folder=$root/build-$(printf %s "$type" | tr '[:upper:]' '[:lower:]')
[ "$type" != Release ] || folder=$root/build

"$root/scripts/install.sh"
"$root/scripts/build.sh" "$folder" -DCMAKE_BUILD_TYPE="$type" -DCOSWEEP_WERROR=ON
cd "$folder"
ctest --output-on-failure
