#!/bin/sh
# Feeds bad input in bulk to every reader: scripts/fuzz.sh [--seed N] [SECONDS [TARGET]...]
#   --seed N  the same inputs each time, as far as the time allows; by default they are new ones
#   SECONDS   for each target, 3600 by default
#   TARGET    study model evaluate result saved (libFuzzer, clang) and bytes (damaged HDF5 files); all by default
# Starts from the inputs in tests/fuzz/corpus/TARGET; what reaches new code is kept in build-fuzz/corpus/TARGET for the next
# time, what crashes, hangs (10 s), leaks or takes more than 2 GB in build-fuzz/found/TARGET, with the command that shows it
# again.  Exit code 1 if anything did, 5 without clang.
#   scripts/fuzz.sh --minimise [TARGET]...   writes tests/fuzz/corpus anew: the least of both corpora that reaches as much
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build-fuzz
targets='study model evaluate result saved bytes'
seed=$(date +%s)
if [ "${1:-}" = --seed ]; then
    seed=${2:-}
    shift $(($# < 2 ? $# : 2))
    case $seed in
    '' | *[!0-9]* | 0)
        echo "fuzz.sh: --seed takes a number above 0; see scripts/fuzz.sh --help" >&2
        exit 2
        ;;
    esac
fi
case ${1:-} in
-h | --help)
    sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
--minimise) seconds=minimise ;;
*[!0-9]* | 0)
    echo "fuzz.sh: $1: is no number of seconds above 0; see scripts/fuzz.sh --help" >&2
    exit 2
    ;;
*) seconds=${1:-3600} ;;
esac
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || eval "set -- $targets"
for target; do
    case " $targets " in
    *" $target "*) ;;
    *)
        echo "fuzz.sh: $target: unknown; give some of: $targets" >&2
        exit 2
        ;;
    esac
done

command -v clang >/dev/null || { echo "fuzz.sh: no clang here; scripts/install.sh fuzz" >&2; exit 5; }
"$root/scripts/build.sh" "$folder" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Fuzz
scratch=$(mktemp -d "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)/cosweep-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM
export TMPDIR="$scratch" OMP_NUM_THREADS=1 UBSAN_OPTIONS=print_stacktrace=1

# The words that the readers know, as they stand in the sources.
words() {
    case $1 in
    model) set -- "$root"/src/model/hugging_face*.[cd]* ;;
    *) set -- "$root"/include/cosweep/plan.h "$root"/include/cosweep/hardware.h "$root"/include/cosweep/evaluate.h \
        "$root"/include/cosweep/model.h "$root"/src/io/*.c "$root"/src/core/units.c "$root"/src/*/presets.def ;;
    esac
    grep -ohE '"[A-Za-z0-9_./]{2,30}"' "$@" | sort -u
}

fuzz() {
    mkdir -p "$folder/corpus/$1" "$folder/found/$1"
    words "$1" >"$scratch/$1.dict"
    "$folder/fuzz_$1" -seed="$seed" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -max_len=8192 -dict="$scratch/$1.dict" -artifact_prefix="$folder/found/$1/" "$folder/corpus/$1" \
        "$root/tests/fuzz/corpus/$1" >"$folder/found/$1.log" 2>&1 || {
        grep -E '^fuzz: |ERROR|SUMMARY|runtime error' "$folder/found/$1.log" | head -n 5 >&2
        echo "fuzz.sh: $1: found something; see $folder/found/$1.log, and again:" >&2
        for input in "$folder/found/$1"/*; do [ ! -f "$input" ] || echo "    $folder/fuzz_$1 $input" >&2; done
        return 1
    }
    grep -E '^#.*DONE' "$folder/found/$1.log" | sed "s/^/$1: /"
}

# Inputs with a name of their own, not a hash, are kept whatever they reach.
minimise() {
    committed=$root/tests/fuzz/corpus/$1
    mkdir -p "$scratch/least" "$folder/corpus/$1" "$committed"
    find "$committed" -type f -regextype posix-extended ! -regex '.*/[0-9a-f]{40}' -exec cp {} "$scratch/least" \;
    "$folder/fuzz_$1" -merge=1 -use_counters=0 -max_len=8192 "$scratch/least" "$committed" "$folder/corpus/$1" \
        >"$folder/merge.log" 2>&1 || { tail -n 5 "$folder/merge.log" >&2; exit 5; }
    rm -rf "$committed"
    mv "$scratch/least" "$committed"
    echo "$1: $(find "$committed" -type f | wc -l) files, $(find "$committed" -type f -exec cat {} + | wc -c) bytes"
}

failed=0
for target; do
    case $seconds.$target in
    minimise.bytes) ;;
    minimise.*) minimise "$target" ;;
    *.bytes) # HDF5 itself leaks where it fails
        ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 /usr/bin/python3 "$root/tests/fuzz/bytes.py" \
            "$folder/cosweep" --seed "$seed" --seconds "$seconds" --found "$folder/found/bytes" || failed=1
        ;;
    *) fuzz "$target" || failed=1 ;;
    esac
done
exit $failed
