#!/bin/sh
# What the compiler cannot see: scripts/check.sh [CHECK]...; all of them without an argument, `quick` for the first three.
#   style      clang-format, shellcheck (warnings, not matters of taste), lines of at most 125 columns
#   cppcheck   no findings but those that scripts/check/cppcheck.txt explains
#   races      ThreadSanitizer (clang with libomp) on two tests that share work between threads
#   tidy       clang-tidy, no findings; .clang-tidy says which checks are left out and why
#   clang      builds without warnings and passes the tests when compiled by clang
#   asan       AddressSanitizer, UndefinedBehaviorSanitizer and leaks, the tests of scripts/test.sh Asan
#   tsan       ThreadSanitizer, every test that starts threads or ranks
#   traps      the tests with NaN of numbers, division by zero and overflow ending the process
#   valgrind   memcheck of the tests and of the commands
#   coverage   lines that the tests run, per room and in all; less than 90 of 100 fails
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
here=$root/scripts/check
cd "$root"

check_style() {
    clang-format --dry-run --Werror src/*/*.c
    git ls-files '*.sh' '*.sbatch' .ci/run | xargs shellcheck --severity=warning
    # Tests in shell hold texts that cannot be broken.
    git ls-files '*.[ch]' '*.def' '*.sh' '*.sbatch' '*.py' '*.cmake' CMakeLists.txt .ci/run ':!tests/*.sh' | xargs wc -L |
        awk '$1 > 125 && $2 != "total" { print $2 ": a line of " $1 " columns; 125 are allowed"; bad = 1 } END { exit bad }'
}

check_cppcheck() {
    cppcheck --quiet -j "$(nproc)" --std=c11 --enable=warning,style,performance,portability --error-exitcode=1 \
        --suppressions-list="$here/cppcheck.txt" --library="$here/cppcheck.xml" -Iinclude -Isrc src
}

# One file at a time: clang-tidy 14 mixes up va_lists of several.
check_tidy() {
    clang-tidy --version >/dev/null
    cmake -S . -B build-tidy -DCMAKE_C_COMPILER=clang >/dev/null
    cmake --build build-tidy --target build_facts >/dev/null
    printf '%s\n' src/*/*.c | xargs -P "$(nproc)" -n 1 clang-tidy -p build-tidy --quiet 2>/dev/null
}

build() { # TYPE [CMAKE OPTIONS]
    type=$1
    shift
    "$root/scripts/build.sh" "$root/build-$(printf %s "$type" | tr '[:upper:]' '[:lower:]')" -DCMAKE_BUILD_TYPE="$type" \
        -DCOSWEEP_WERROR=ON "$@"
}

tests() { # FOLDER WHICH [NOT]: names as regular expressions
    (cd "build-$1" && ctest --output-on-failure -R "^($2)\$" -E "^(${3:-none})\$")
}

# Tests of other programs (browsers, readers, Slurm) or of other builds say nothing about this one.
other='additions|report|plot|reading|readers|simd|slurm|published|test_rooms|fuzz.*'

# Threads are waited for asleep: ranks and threads outnumber the cores.
check_races() {
    export OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive
    build Tsan -DCMAKE_C_COMPILER=clang
    tests tsan 'test_slices|test_sensitivity'
}

check_tsan() {
    export OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive
    build Tsan -DCMAKE_C_COMPILER=clang
    tests tsan 'test_.*|ranks|resume' "$other"
}

check_clang() {
    "$root/scripts/build.sh" build-clang -DCMAKE_C_COMPILER=clang -DCOSWEEP_WERROR=ON
    tests clang 'test_.*|golden|formulas|cli|bad' "$other"
}

check_asan() {
    "$root/scripts/test.sh" Asan
}

# A candidate beyond a limit is a NaN in a sweep, and comparing with it is invalid; text such as 1e999 overflows on purpose.
check_traps() {
    sweeps='test_(joint|pareto|population|pruned|rounds|sensitivity|sweep)|cli|configs|export'
    texts='test_core|bad'
    build Plain
    export COSWEEP_TRAPS
    COSWEEP_TRAPS='divide overflow'
    tests plain "$sweeps"
    COSWEEP_TRAPS='invalid divide'
    tests plain "$texts"
    COSWEEP_TRAPS='invalid divide overflow'
    tests plain 'test_.*|golden|formulas' "$other|$sweeps|$texts"
}

memcheck() {
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite "$@" >"$work/out" 2>&1 ||
        { echo "memcheck: $*" >&2; cat "$work/out" >&2; return 1; }
}

# Tests that valgrind turns from seconds into minutes are left to the sanitizers.
check_valgrind() {
    export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
    build Plain
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    for test in build-plain/test_*; do
        case $test in
        *_pareto | *_population | *_rounds | *_sweep | *_joint | *_sensitivity | *_properties | *_pruned | *_formulas) ;;
        *) [ ! -x "$test" ] || [ -d "$test" ] || memcheck "$test" ;;
        esac
    done
    memcheck build-plain/cosweep run configs/smoke.yaml -o "$work/smoke.h5" --progress none
    memcheck build-plain/cosweep show "$work/smoke.h5"
    memcheck build-plain/cosweep explain "$work/smoke.h5" --row 0 --formulas
    memcheck build-plain/cosweep compare "$work/smoke.h5" "$work/smoke.h5"
    memcheck build-plain/cosweep export "$work/smoke.h5" --row 0
    memcheck build-plain/cosweep run tests/data/studies/prefill.yaml --set search=pruned -o "$work/pruned.h5" --progress none
    memcheck build-plain/cosweep size configs/smoke.yaml
}

# Nothing is left out, not even what only a failing machine runs. Processes that tests/resume.sh kills count nothing.
check_coverage() {
    build Coverage
    find build-coverage -name '*.gcda' -delete
    tests coverage '.*' "$other"
    gcovr --root . --filter src/ build-coverage --txt build-coverage/coverage.txt --csv build-coverage/coverage.csv \
        --html-details build-coverage/coverage.html
    awk -F, -v least=90 -f "$here/rooms.awk" build-coverage/coverage.csv
}

all='style cppcheck races tidy clang asan tsan traps valgrind coverage'
quick='style cppcheck races'
case ${1:-} in
-h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"; exit ;;
esac
names=$(printf '%s ' "$@" | sed "s/\<quick\>/$quick/")
[ $# -gt 0 ] || names=$all
for name in $names; do
    case " $all " in
    *" $name "*) ;;
    *)
        echo "check.sh: $name: unknown; give nothing, quick, or some of: $all" >&2
        exit 2
        ;;
    esac
done
"$root/scripts/install.sh" check
trap '[ $? -eq 0 ] || echo "check.sh: $name: failed" >&2' EXIT
for name in $names; do
    echo "check.sh: $name" >&2
    ("check_$name")
done
echo "check.sh: passed: $names"
