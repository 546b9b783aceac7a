#!/bin/sh
# Installs what is missing, builds with warnings as errors, runs every test: scripts/test.sh [BUILD TYPE]
# (Release by default; Debug; Asan).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
type=${1:-Release}
case $type in
Release | Debug | Asan) ;;
*)
    echo "test.sh: $type: unknown; give nothing, Debug or Asan" >&2
    exit 2
    ;;
esac
folder=$root/build-$(printf %s "$type" | tr '[:upper:]' '[:lower:]')
[ "$type" != Release ] || folder=$root/build

"$root/scripts/install.sh"
if [ "$type" = Release ]; then # jobs and the report's page are tested where their programs can be had; else those tests skip
    "$root/scripts/install.sh" slurm || echo "test.sh: no Slurm here: its test is skipped" >&2
    "$root/scripts/install.sh" report || echo "test.sh: no browser here: the report's tests are skipped" >&2
    skip='^$'
else # what these look at is other programs, or another build; faults take minutes here
    skip='^(additions|bytes|faults|report|plot|reading|readers|simd|slurm|published|schema)$'
fi
"$root/scripts/build.sh" "$folder" -DCMAKE_BUILD_TYPE="$type" -DCOSWEEP_WERROR=ON
cd "$folder"
ctest --output-on-failure --exclude-regex "$skip"
