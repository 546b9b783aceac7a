#!/bin/sh
# A result does not depend on how many ranks and threads found it; a bad study is refused once, by all ranks:
# tests/ranks.sh PROGRAM
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# One machine, perhaps with fewer cores than ranks.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_pml=ob1
export OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_tcp_if_include=lo
export OMPI_MCA_oob_tcp_if_include=lo OMP_WAIT_POLICY=passive
failed=0

fail() {
    echo "ranks.sh: $*" >&2
    failed=1
}

# Most candidates tie in both objectives, and there are more work units than ranks.
cat >"$work/ties.yaml" <<'END'
scenarios:
  - {name: decode, model: llama-3.2-1b, phase: decode, context: 1024}
  - {name: prefill, model: llama-3.2-1b, phase: prefill, new_tokens: 1024}
plan:
  tp: [8, 4, 16, 2, 1]
  cp: [4, 2, 1]
  pp: [1, 2, 4]
  dp: [1, 2]
  batch: [4, 1, 2, 8]
  tp_placement: [cube, pe]
  ring: [q, kv]
  kv_mode: [split_seq, replicate]
  ffn_scope: [tp_cp, tp, tp_cp_dp]
hardware:
  pe: {flops: [4 TFLOP/s, 8 TFLOP/s], hbm_bandwidth: [256 GB/s, 128 GB/s], hbm_capacity: [2 GB, 9 GB]}
  links: {c2c: {bandwidth: [100 GB/s, 200 GB/s]}, d2d: {topology: [ring, mesh2d]}}
limits: {pes: 64}
objectives: [pes, cubes]
population: {sample: 300, histograms: [[latency, cost]]}
END
sed '/^population/d; s/^objectives.*/objectives: [latency, cost, pes]/' "$work/ties.yaml" >"$work/pruned.yaml"
echo 'search: pruned' >>"$work/pruned.yaml"
cp "$here/../configs/smoke.yaml" "$here"/data/studies/*.yaml "$work"
# Everything that is asked of rows and machines, on rows that a pruned search found.
{ cat "$work/prefill.yaml"; echo 'search: pruned'; } >"$work/sensitivity.yaml"

sweep() { # STUDY RANKS THREADS
    OMP_NUM_THREADS=$3 timeout 120 mpirun -n "$2" "$program" run "$work/$1.yaml" -o "$work/$1-$2-$3.h5" --progress none \
        >"$work/out" 2>"$work/err" </dev/null || { fail "$1, $2 ranks, $3 threads: exit code $?"; cat "$work/err" >&2; }
}

# Exhaustive with populations, pruned, with sensitivities and joint fronts, in rounds.
for study in smoke ties pruned decode sensitivity stages; do
    # The reference starts without a launcher, on one thread.
    OMP_NUM_THREADS=1 timeout 120 "$program" run "$work/$study.yaml" -o "$work/$study.h5" --progress none \
        >"$work/out" 2>&1 || { fail "$study alone: exit code $?"; cat "$work/out" >&2; }
    for at in 1-4 2-1 3-2 4-1; do
        ranks=${at%-*} threads=${at#*-}
        sweep $study $ranks $threads
        /usr/bin/python3 -B "$here/same.py" "$work/$study.h5" "$work/$study-$at.h5" ||
            fail "$study: $ranks ranks with $threads threads differ from one"
    done
done
# Fewer threads than OpenMP promised.
for fewer in OMP_THREAD_LIMIT=1 OMP_THREAD_LIMIT=3 OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=0; do
    env OMP_NUM_THREADS=4 $fewer timeout 120 "$program" run "$work/smoke.yaml" -o "$work/fewer.h5" --force --progress none \
        >"$work/out" 2>&1 || { fail "$fewer: exit code $?"; cat "$work/out" >&2; }
    /usr/bin/python3 -B "$here/same.py" "$work/smoke.h5" "$work/fewer.h5" || fail "$fewer: another result"
done
# Ranks with other numbers of threads than rank 0; a thousand units, most of them of plans that are refused.
cat >"$work/units.yaml" <<'END'
scenarios: [{name: decode, model: llama-3.2-1b, phase: decode, context: 1024}]
plan: {tp: {from: 1, to: 8000, step: 1}}
hardware:
  pe:
    flops: {from: 1 TFLOP/s, to: 80 TFLOP/s, step: 1 TFLOP/s}
    hbm_bandwidth: {from: 10 GB/s, to: 800 GB/s, step: 10 GB/s}
    hbm_capacity: {from: 1 GB, to: 80 GB, step: 1 GB}
END
OMP_NUM_THREADS=1 "$program" run "$work/units.yaml" -o "$work/units.h5" --progress none >"$work/out"
for threads in "1 3" "3 1"; do
    timeout 120 mpirun -n 1 env OMP_NUM_THREADS=${threads% *} "$program" run "$work/units.yaml" -o "$work/mixed.h5" --force \
        : -n 1 env OMP_NUM_THREADS=${threads#* } "$program" run "$work/units.yaml" -o "$work/mixed.h5" --force \
        >"$work/out" 2>"$work/err" </dev/null || { fail "ranks with $threads threads: exit code $?"; cat "$work/err" >&2; }
    /usr/bin/python3 -B "$here/same.py" "$work/units.h5" "$work/mixed.h5" || fail "ranks with $threads threads: another result"
done
# The comparison itself must see a difference.
/usr/bin/python3 -B "$here/same.py" "$work/smoke.h5" "$work/ties.h5" >/dev/null && fail "same.py finds two studies the same"

# Four ranks, one message, exit code 2.
refused() { # WHAT, then the words of the command
    what=$1
    shift
    OMP_NUM_THREADS=1 timeout 60 mpirun -q -n 4 "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code = 2 ] || fail "$what: exit code $code, not 2"
    n=$(grep -c '^cosweep: ' "$work/err")
    [ "$n" = 1 ] || { fail "$what: $n messages, not 1"; cat "$work/err" >&2; }
}
sed 's/tp: \[8, 4, 16, 2, 1\]/tp: [0]/' "$work/ties.yaml" >"$work/bad.yaml"
refused "a bad study" run "$work/bad.yaml" -o "$work/bad.h5" --progress none
refused "no such study" run "$work/missing.yaml" -o "$work/bad.h5" --progress none
refused "an unknown option" run "$work/ties.yaml" --no-such-option
mkdir "$work/node"
sed 's/tp: \[8, /tp: [/' "$work/ties.yaml" >"$work/node/ties.yaml"
cd "$work" || exit 1
refused "another study on another node" run ties.yaml -o "$work/bad.h5" : -n 1 --wdir "$work/node" "$program" run ties.yaml \
    -o "$work/bad.h5"
[ ! -e "$work/bad.h5" ] || fail "a bad study left a result"

# What only rank 0 sees: the others leave the exit code to it, since srun takes the highest.
OMP_NUM_THREADS=1 timeout 60 mpirun -q -n 4 sh -c '"$@"; echo $? >"$0/code-$OMPI_COMM_WORLD_RANK"' "$work" \
    "$program" run "$work/pruned.yaml" -o "$work/smoke.h5" --progress none >"$work/out" 2>"$work/err" </dev/null
codes=$(cat "$work"/code-* | tr '\n' ' ')
[ "$codes" = "2 0 0 0 " ] || { fail "a result of another study: exit codes $codes, not 2 0 0 0"; cat "$work/err" >&2; }
exit $failed
