#!/bin/sh
# Large loads, once each to the end: the answer is checked, and so is the memory it took.
#     scripts/load.sh                     every load
#     scripts/load.sh LOAD...             these
#     scripts/load.sh --list              their names, what they are and the bound on their memory
# COSWEEP=program (build/cosweep), OMP_NUM_THREADS as ever.  Prints a line of figures for each; exit code 1 if one failed.
# shellcheck disable=SC2317,SC2086 # loads are called by name; numbers and lists of words stand bare
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
program=${COSWEEP:-$root/build/cosweep}
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
loads='streams scenarios ranks front soak'
case ${1:-} in
-h | --help) sed -n '2,/^# shellcheck/{/^# shellcheck/d; s/^# //p}' "$0"; exit ;;
--list) sed -n 's/^# load_\([a-z]*\): /\1: /p' "$0"; exit ;;
esac
work=$(mktemp -d)
process=
trap '[ -z "$process" ] || { kill "$process"; wait "$process"; }; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_WAIT_POLICY=passive
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
failed=0

check() { # WHAT STATUS
    [ "$2" -eq 0 ] && return
    failed=1
    echo "FAILED: $load: $1: $(tail -n 3 messages)" >&2
}

# Resident memory of a process and its children, in kB, every half second while it lives: into FILE.
watch_memory() { # PID FILE
    : >"$2"
    while [ -r "/proc/$1/status" ]; do
        children=$(cat /proc/"$1"/task/*/children 2>/dev/null)
        for member in $1 $children; do cat "/proc/$member/status" 2>/dev/null; done |
            awk '/^VmRSS/ { sum += $2; most = $2 > most ? $2 : most } END { if (sum) print sum, most }' >>"$2"
        sleep 0.5
    done
}

# Runs a command; `took_s`, `sum_mb` (it and its children) and `most_mb` (the largest of them) say what it took.
watched() { # BOUND_MB COMMAND...: the bound is on the largest process
    bound_mb=$1
    shift
    from_ns=$(date +%s%N)
    exec "$@" >answer 2>messages & # in the background: no shell between
    process=$!
    watch_memory $process memory
    wait $process
    status=$?
    process=
    check "exit code of $*" $status
    took_s=$((($(date +%s%N) - from_ns) / 1000000000))
    sum_mb=$(awk '{ if ($1 > most) most = $1 } END { print int(most / 1000) + 1 }' memory)
    most_mb=$(awk '{ if ($2 > most) most = $2 } END { print int(most / 1000) + 1 }' memory)
    [ "$most_mb" -le "$bound_mb" ]
    check "$most_mb MB, more than $bound_mb" $?
}

same() { # FILE FILE
    /usr/bin/python3 -B "$root/tests/same.py" "$1" "$2" >messages 2>&1
    check "$1 and $2 differ" $?
}

# load_streams: 100 `evaluate` at once, each asked 1,000 candidates line by line; 20 MB a process
load_streams() {
    for tp in 1 2 4 8 16 32 64 3; do
        for cp in 1 2 4 8 16; do
            for context in 1 2 4 8 16 32 64 128 100 48 24 12 6 3 1000 500 250 125 62 31 15 7 5 9 10; do
                printf '{"scenario": {"model": "llama-3.1-70b", "phase": "decode", "context": "%sk"}, ' $context
                printf '"plan": {"tp": %s, "cp": %s}, "hardware": {"base": "sip"}}\n' $tp $cp
            done
        done
    done >cases.jsonl
    "$program" evaluate cases.jsonl >expected
    [ "$(wc -l <expected)" = 1000 ]
    check "1,000 answers" $?
    # shellcheck disable=SC2016 # expanded by the shell that starts them
    watched 20 sh -c 'i=0
        while [ $i -lt 100 ]; do
            i=$((i + 1))
            cat cases.jsonl | "$1" evaluate - >stream.$i &
        done
        wait' streams "$program"
    i=0
    while [ $i -lt 100 ]; do
        i=$((i + 1))
        cmp expected stream.$i >>messages 2>&1
        check "stream $i" $?
    done
    echo "streams: 100 x 1,000 candidates in $took_s s, $most_mb MB a process; all answers those of a single stream"
}

# load_scenarios: a study with 200 scenarios and their joint front; 300 MB
load_scenarios() {
    {
        echo 'study: many'
        echo 'scenarios:'
        i=0
        while [ $i -lt 200 ]; do
            i=$((i + 1))
            phase='phase: decode, context'
            [ $((i % 2)) = 1 ] || phase='phase: prefill, new_tokens'
            [ $((i % 3)) = 0 ] && model=llama-3.1-8b || model=llama-3.1-70b
            echo "  - {name: s$i, model: $model, $phase: $((i * 512))}"
        done
        sed -e '1,/^plan:/d' "$root/configs/smoke.yaml" | sed '1i plan:'
        echo 'joint: {against: [cost]}'
    } >many.yaml
    watched 300 "$program" run many.yaml -o many.h5 --progress none
    rows=$(grep -c '^scenario s' answer)
    [ "$rows" = 200 ]
    check "$rows scenarios in the summary" $?
    for i in 1 2 99 200; do
        sed -e "2,/^plan:/{/^scenarios:\|^plan:\|name: s$i,/!d}" -e '/^joint/d' many.yaml >one.yaml
        "$program" run one.yaml -o one.h5 --force --progress none >answer 2>messages
        check "s$i alone" $?
        h5diff -q many.h5 one.h5 "/scenarios/s$i" "/scenarios/s$i" >messages 2>&1
        check "s$i is not what it is alone" $?
    done
    from_s=$(date +%s)
    for command in "show many.h5" "compare many.h5 many.h5" "explain many.h5 --scenario s200 --row 0" \
        "export many.h5 --scenario s77 --row 0"; do
        "$program" $command >answer 2>messages
        check "$command" $?
    done
    echo "scenarios: 200 in $took_s s, $most_mb MB; four are what they are alone; show, compare, explain, export: \
$(($(date +%s) - from_s)) s"
}

# load_ranks: 64 ranks on the cores there are; 100 MB a rank
load_ranks() {
    OMP_NUM_THREADS=1 "$program" run "$root/configs/llama70b-decode-128k.yaml" -o one.h5 --progress none >answer 2>messages
    check "one rank" $?
    export OMP_NUM_THREADS=1
    watched 100 mpirun -n 64 "$program" run "$root/configs/llama70b-decode-128k.yaml" -o ranks.h5 --progress none
    unset OMP_NUM_THREADS
    same one.h5 ranks.h5
    echo "ranks: 64 in $took_s s, $most_mb MB a rank, $sum_mb MB in all; the same bytes as one rank"
}

# load_front: a Pareto set of a million rows over three objectives; 2,000 MB, 6,000 MB where two results are compared
load_front() {
    cat >front.yaml <<'STUDY'
study: front
scenarios:
  - {name: decode, model: llama-3.1-70b, phase: decode, context: 4096}
plan:
  tp: [4, 8, 16, 32]
  cp: [8]
  kv_mode: split_seq
  ffn_scope: tp_cp
  batch: {from: 1, to: 1000, step: 1}
hardware:
  pe:
    flops: {from: 4 TFLOP/s, to: 32 TFLOP/s, step: 0.1 TFLOP/s}
    hbm_bandwidth: {from: 128 GB/s, to: 512 GB/s, step: 1 GB/s}
    hbm_capacity: [4.5 GB, 9 GB, 18 GB]
  links: {pe: {bandwidth: [64 GB/s, 128 GB/s, 256 GB/s, 512 GB/s]}, d2d: {bandwidth: [256 GB/s, 512 GB/s]}}
objectives: [latency, cost, throughput]
population: {sample: 20000, histograms: []}
sensitivity: {doubling: false, elasticity: false, main_effects: false, parallelism: {cp: 0}}
STUDY
    watched 2000 "$program" run front.yaml -o front.h5 --progress none
    swept="$took_s s, $most_mb MB"
    [ "$(wc -l <answer)" -lt 60 ]
    check "a summary of $(wc -l <answer) lines" $?
    OMP_NUM_THREADS=1 "$program" run front.yaml -o other.h5 --set search=pruned --progress none >answer 2>messages
    check "the pruned search" $?
    /usr/bin/python3 - >figures 2>messages <<'PYTHON'
import bisect
import h5py
import numpy

whole, pruned = (h5py.File(name)["scenarios/decode"] for name in ("front.h5", "other.h5"))
names = ("latency", "cost", "throughput")
columns = [whole["pareto"][name][:] for name in names]
for name in ("id",) + names:
    assert (whole["pareto"][name][:] == pruned["pareto"][name][:]).all(), f"{name} is another in the pruned search"
n = len(columns[0])
assert n >= 1000000, f"{n} rows"
sample = [whole["sample"][name][:] for name in names]

# By latency, rows of the front first; behind it a staircase over cost and throughput: a point is dominated or equalled by
# an earlier one that costs no more and yields no less.
points = numpy.concatenate([numpy.stack(columns, 1), numpy.stack(sample, 1)])
is_row = numpy.arange(len(points)) < n
order = numpy.lexsort((~is_row, -points[:, 2], points[:, 1], points[:, 0]))
costs, yields = [], []
for latency, cost, throughput, row in zip(*points[order].T.tolist(), is_row[order].tolist()):
    at = bisect.bisect_right(costs, cost)
    covered = at > 0 and yields[at - 1] >= throughput
    assert covered != row, f"a row is dominated" if row else "a feasible candidate is better than the front"
    if not row:
        continue
    at = bisect.bisect_left(costs, cost)
    end = at
    while end < len(costs) and yields[end] <= throughput:
        end += 1
    costs[at:end], yields[at:end] = [cost], [throughput]
print(f"{n:,} rows of {whole.attrs['candidates']:,} candidates")
PYTHON
    check "the rows" $?
    commands=''
    for command in "show front.h5" "show front.h5 --csv --top 10" "compare front.h5 other.h5" \
        "explain front.h5 --row 500000" "export front.h5 --row 999999"; do
        watched 6000 "$program" $command
        commands="$commands; ${command%% *} $took_s s $most_mb MB"
    done
    watched 6000 "$root/scripts/report.py" front.h5 --no-pictures --rows 200 -o report
    echo "front: $(cat figures) in $swept; no row dominates another, none of 20,000 candidates is better, the pruned search \
and one thread find the same$commands; report $took_s s $most_mb MB"
}

# load_soak: every one of 10^12 candidates; 100 MB, and in the last quarter no more than in the third
load_soak() {
    sed 's/^study:.*/study: soak/' "$root/configs/llama70b-decode-128k.yaml" >soak.yaml
    cat >>soak.yaml <<'STUDY'
search: exhaustive
population: {sample: 0, histograms: []}
sensitivity: {doubling: false, elasticity: false, main_effects: false, parallelism: {cp: 0}}
STUDY
    sed -i -e 's/^    flops:.*/    flops: {from: 4 TFLOP\/s, to: 64 TFLOP\/s, step: 1 TFLOP\/s}/' \
        -e 's/^    hbm_bandwidth:.*/    hbm_bandwidth: {from: 100 GB\/s, to: 512 GB\/s, step: 4 GB\/s}/' \
        -e 's/^    c2c:.*/    c2c: {bandwidth: {from: 50 GB\/s, to: 400 GB\/s, step: 8 GB\/s}}/' soak.yaml
    watched 100 "$program" run soak.yaml -o soak.h5 --progress log
    # While the front grows so does memory, in the first half; without the last second, in which the result is written.
    figures=$(awk '{ at[NR] = $1 } END {
        for (i = n = NR - 2; i > 0; i--) {
            if (i > 0.5 * n && i <= 0.75 * n && at[i] > early) early = at[i]
            if (i > 0.75 * n && at[i] > late) late = at[i]
        }
        printf "%d kB at most in the third quarter, %d kB in the last\n", early, late
        exit late > early + 1000 }' memory)
    check "memory grows: $figures" $?
    "$program" run soak.yaml -o pruned.h5 --set search=pruned --progress none >answer 2>messages
    /usr/bin/python3 - >counts 2>messages <<'PYTHON'
import h5py

whole, pruned = (h5py.File(name)["scenarios/decode-128k"] for name in ("soak.h5", "pruned.h5"))
count = whole.attrs["candidates"]
assert count >= 10**12 and whole.attrs["feasible"] + whole.attrs["refused"] == count and whole.attrs["pruned"] == 0
for name in ("id", "latency", "cost"):
    assert (whole["pareto"][name][:] == pruned["pareto"][name][:]).all(), f"{name} is another in the pruned search"
print(f"{count:,} candidates, {whole.attrs['feasible']:,} feasible")
PYTHON
    check "the counts" $?
    echo "soak: $(cat counts) in $took_s s; $figures; the Pareto set is that of the pruned search"
}

[ $# -gt 0 ] || eval "set -- $loads"
for load in "$@"; do
    case " $loads " in
    *" $load "*)
        mkdir "$work/$load"
        cd "$work/$load" && "load_$load"
        rm -rf "${work:?}/$load"
        ;;
    *)
        echo "load.sh: $load: there is no such load; give one of: $loads" >&2
        exit 2
        ;;
    esac
done
exit $failed
