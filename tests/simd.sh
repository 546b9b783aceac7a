#!/bin/sh
# A result does not depend on the vector path it was found on: builds the program once per narrower path that this processor
# has and compares what they write: tests/simd.sh PROGRAM
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
[ "$(uname -m)" = x86_64 ] || { echo "simd.sh: skipped: one vector path on this processor"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

fail() {
    echo "simd.sh: $*" >&2
    failed=1
}

sweep() { # PROGRAM PATH
    for study in decode prefill serve stages; do
        timeout 60 "$1" run "$here/data/studies/$study.yaml" -o "$work/$study-$2.h5" --progress none >"$work/out" 2>&1 ||
            { fail "$study on $2: exit code $?"; cat "$work/out" >&2; }
    done
    timeout 60 "$1" run "$here/data/studies/grid.yaml" --set search=pruned -o "$work/grid-$2.h5" --progress none \
        >"$work/out" 2>&1 || { fail "grid on $2: exit code $?"; cat "$work/out" >&2; }
}

compare() { # PATH, by its compiler flags
    path=$1
    shift
    cmake -S "$here/.." -B "$work/build" -DBUILD_TESTING=OFF "-DCMAKE_C_FLAGS=-DCOSWEEP_ONE_PATH $*" >"$work/out" 2>&1 &&
        cmake --build "$work/build" --target cosweep --parallel 2 >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
    sweep "$work/build/cosweep" "$path"
    for study in decode prefill serve stages grid; do
        /usr/bin/python3 -B "$here/same.py" "$work/$study-widest.h5" "$work/$study-$path.h5" || fail "$study: $path differs"
    done
}

sweep "$program" widest
compare baseline
# Where the program itself runs on AVX-512, AVX2 is a third path.
if grep -q avx512vl /proc/cpuinfo; then compare avx2 -march=x86-64-v3; fi
exit $failed
