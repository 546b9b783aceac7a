#!/bin/sh
# The job scripts of slurm/ on a real Slurm of two emulated nodes that is started here and ends with this script:
# two nodes, signal, requeue, resume, a killed rank, array and merge, cancel, nightly: tests/slurm.sh PROGRAM
# Skipped where Slurm is not installed (scripts/install.sh slurm) or cannot run.
# Nothing waits for ever: what takes too long ends the test, and with it every job.
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
scripts=$(cd "$here/../slurm" && pwd)
PATH=$PATH:/usr/sbin:/sbin
for needed in slurmctld slurmd munged srun sbatch; do
    if ! command -v $needed >/dev/null; then
        echo "slurm.sh: skipped: no $needed; scripts/install.sh slurm installs it"
        exit 77
    fi
done
work=$(mktemp -d)
slurm=$work/slurm
trap 'sh "$here/slurm/down.sh" "$slurm"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if ! sh "$here/slurm/up.sh" "$slurm" 2 2 $$ >"$work/up" 2>&1; then
    echo "slurm.sh: skipped: Slurm does not start here:"
    cat "$work/up"
    exit 77
fi
unset SLURM_JOB_ID SBATCH_PARTITION SBATCH_ACCOUNT OMP_NUM_THREADS
export SLURM_CONF="$slurm/slurm.conf" COSWEEP="$program"
# One machine that plays two, with fewer cores than threads.  Without shared memory: Open MPI names its segments by host and
# rank on the host, and both nodes have the same host.
export OMP_WAIT_POLICY=passive OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
# So long srun waits for the other ranks when one has ended (slurm/step.sh).
export SLURM_WAIT=10
case $(srun --mpi=list 2>&1) in
    *pmix*) ;;
    *) echo "slurm.sh: skipped: this Slurm does not know srun --mpi=pmix"; exit 77 ;;
esac
cd "$work" || exit 1
failed=0

fail() { # WHAT [LOG]
    echo "slurm.sh: $1" >&2
    [ $# = 1 ] || tail -n 25 "$2" | sed 's/^/    /' >&2
    failed=1
}

# ---- asking Slurm ------------------------------------------------------------------------------------------------------

fact() { # JOB NAME: what Slurm says of a job
    scontrol show job -o "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

# Until COMMAND is true.  Ends the test where that takes longer than any job here does on a machine with other work; from
# within $( ) only that, with exit code 1.
await() { # WHAT COMMAND...
    what=$1
    shift
    for _ in $(seq 900); do
        ! "$@" || return 0
        sleep 0.2
    done
    fail "waited 3 minutes for: $what; the test ends here"
    { squeue && squeue --steps && tail -n 25 ./*.log; } >&2
    exit 1
}

# shellcheck disable=SC2317 # called by `await`
is_over() { # JOB
    case $(fact "$1" JobState) in PENDING | CONFIGURING | RUNNING | COMPLETING | REQUEUED | SUSPENDED) return 1 ;; esac
}
# shellcheck disable=SC2317
is_waiting() { [ "$(fact "$1" JobState)" = PENDING ]; }
# shellcheck disable=SC2317 # nodes do not start a job that they have not ended: sockets of its steps, its script's folder
has_left_nodes() { # JOB
    [ -z "$(find "$slurm/spool" -name "stepd.slurm.pmix.$1.*" -o -name "*_$1.*" -o -name "$(printf 'job%05d' "$1")")" ]
}
# shellcheck disable=SC2317
has_or_is_over() { [ -e "$1" ] || is_over "$2"; } # FILE JOB

# Not in two minutes, but not in the same second either: a node that was told to end a job takes whatever was signed in that
# second for the job it ended.
start_again() { # JOB
    await "job $1 back in the queue" is_waiting "$1"
    await "the nodes are done with job $1" has_left_nodes "$1"
    scontrol update jobid="$1" StartTime=now+3seconds
}

# Open MPI 4.1.4 may crash in MPI_Init when a peer is much faster: once in some hundred starts, on a busy machine.
crashed_at_start() { # JOB
    [ "$(fact "$1" ExitCode)" = 139:0 ] && grep -q 'Signal: Segmentation fault' "$(fact "$1" StdOut)"
}

ends_with() { # WHAT JOB STATE CODE
    await "$1: end of the job" is_over "$2"
    for _ in 1 2; do
        crashed_at_start "$2" || break
        echo "slurm.sh: $1: a rank crashed; once more"
        tail -n 25 "$(fact "$2" StdOut)"
        scontrol requeue "$2"
        start_again "$2"
        await "$1: end of the job" is_over "$2"
    done
    [ "$(fact "$2" JobState) $(fact "$2" ExitCode)" = "$3 $4:0" ] ||
        fail "$1: $(fact "$2" JobState) with $(fact "$2" ExitCode), not $3 with $4:0" "$(fact "$2" StdOut)"
}

same() { # WHAT RESULT REFERENCE
    /usr/bin/python3 -B "$here/same.py" "$2" "$3" >differences 2>&1 || fail "$1: $2 differs from $3" differences
}

# Nothing but studies, results and logs.
nothing_left() { # WHAT
    left=$(find . -maxdepth 1 -type f ! -name '*.yaml' ! -name '*.h5' ! -name '*.log' ! -name up ! -name out \
        ! -name differences)
    [ -z "$left" ] || fail "$1: left behind: $(echo "$left" | tr '\n' ' ')"
}

# ---- studies -----------------------------------------------------------------------------------------------------------

study() { # NAME VALUES: a study that takes as many times longer as a knob has values
    sed "s/^study:.*/study: $1/; s|pe: {bandwidth|pe: {latency: {from: 1 ns, to: $2 ns, step: 1 ns}, bandwidth|" \
        "$here/../configs/llama70b-decode-128k.yaml" >"$1.yaml"
}

# A second or so of work for this program on this machine, and about fifteen: there must be time to interrupt.
study one 2
start=$(date +%s%N)
"$program" run one.yaml -o one-local.h5 --progress none >out 2>&1 || fail "a local run" out
ms=$((($(date +%s%N) - start) / 1000000))
values=$((2 * 15000 / (ms + 1)))
[ $values -ge 8 ] || values=8
[ $values -le 200 ] || values=200
study many $values
cp "$here/../configs/smoke.yaml" smoke.yaml
"$program" run smoke.yaml -o smoke-local.h5 --progress none >out 2>&1 || fail "a local run of smoke" out

# ---- two nodes ---------------------------------------------------------------------------------------------------------

job=$(sbatch --parsable --nodes=2 "$scripts/sweep.sbatch" smoke.yaml smoke.h5)
ends_with "two nodes" "$job" COMPLETED 0
grep -q '2 ranks of 2 threads on 2 nodes' "cosweep-$job.log" || fail "two nodes: other ranks and threads" "cosweep-$job.log"
grep -q '2 ranks x 2 threads' "cosweep-$job.log" || fail "two nodes: the program saw others" "cosweep-$job.log"
same "two nodes" smoke.h5 smoke-local.h5
job=$(sbatch --parsable --nodes=2 --ntasks-per-node=2 --cpus-per-task=1 "$scripts/sweep.sbatch" smoke.yaml four.h5)
ends_with "two ranks to a node" "$job" COMPLETED 0
grep -q '4 ranks x 1 thread' "cosweep-$job.log" || fail "two ranks to a node: the program saw others" "cosweep-$job.log"
same "two ranks to a node" four.h5 smoke-local.h5
job=$(sbatch --parsable --oversubscribe --ntasks=1 --cpus-per-task=1 "$scripts/sweep.sbatch" smoke.yaml part-of-node.h5)
ends_with "part of a node" "$job" COMPLETED 0
grep -q '1 ranks of 1 threads on 1 nodes' "cosweep-$job.log" || fail "part of a node: others" "cosweep-$job.log"

# ---- errors keep their exit codes --------------------------------------------------------------------------------------

echo 'scenarios: [' >bad.yaml
job=$(sbatch --parsable --nodes=2 "$scripts/sweep.sbatch" bad.yaml bad.h5)
ends_with "a bad study" "$job" FAILED 2
job=$(sbatch --parsable --nodes=2 "$scripts/sweep.sbatch" one.yaml smoke.h5)
ends_with "a result of another study, which one rank sees" "$job" FAILED 2
same "a result of another study" smoke.h5 smoke-local.h5
job=$(COSWEEP_MPI=none sbatch --parsable --nodes=2 "$scripts/sweep.sbatch" smoke.yaml none.h5)
ends_with "ranks without MPI" "$job" FAILED 5
[ ! -e none.h5 ] || fail "ranks without MPI: there is a result"
timeout 60 srun --quiet --nodes=1 --ntasks=1 --mpi=pmix env SLURM_STEP_NUM_TASKS=2 \
    "$program" run smoke.yaml -o none.h5 >out 2>&1
code=$?
[ $code = 5 ] || fail "tasks that do not find each other: exit code $code, not 5" out
grep -q 'started as one of 2 tasks, but MPI sees this one only' out ||
    fail "tasks that do not find each other: no word of it" out
[ ! -e none.h5 ] || fail "tasks that do not find each other: there is a result"
nothing_left "errors"

# ---- signal, requeue, resume; a killed rank; cancel --------------------------------------------------------------------

# A rank of a job of this test that computes: its checkpoint, saved every second, is there.
rank_of() { # RESULT
    for each in /proc/[0-9]*; do
        [ "$(readlink "$each/cwd")" = "$(pwd -P)" ] || continue
        case $({ tr '\0' ' ' <"$each/cmdline"; } 2>/dev/null) in
            "$program run "*" --output $1 "*) echo "${each#/proc/}"; return ;;
        esac
    done
}
submit_long() { # RESULT OPTION...: prints the job's number when it has something to lose
    for _ in 1 2 3; do
        job=$(sbatch --parsable --nodes=2 "$scripts/sweep.sbatch" many.yaml "$@" --checkpoint 1s)
        await "a checkpoint beside $1" has_or_is_over "$1.checkpoint" "$job" >&2
        ! crashed_at_start "$job" || continue
        break
    done
    echo "$job"
}

job=$(submit_long many.h5) || exit 1
scancel --batch --signal=USR1 "$job" # what --signal=B:USR1@120 makes Slurm send
start_again "$job"
[ ! -e many.h5 ] || fail "signal: the sweep was over before it was signalled; it needs more than $values values"
[ -e many.h5.checkpoint ] || fail "signal: no checkpoint" "cosweep-$job.log"
grep -q 'stopped by SIGUSR1' "cosweep-$job.log" || fail "signal: the program does not say why it stopped" "cosweep-$job.log"
"$program" run many.yaml -o many-local.h5 --progress none >out 2>&1 || fail "a local run of many" out
ends_with "signal, requeue, resume" "$job" COMPLETED 0
[ "$(fact "$job" Restarts)" -ge 1 ] || fail "requeue: the job did not start again" "cosweep-$job.log"
same "signal, requeue, resume" many.h5 many-local.h5
nothing_left "signal, requeue, resume"

cp smoke-local.h5 killed.h5
job=$(submit_long killed.h5 --force) || exit 1
kill -KILL "$(rank_of killed.h5)"
ends_with "a killed rank" "$job" FAILED 137
grep -q 'srun: error: n[12]: task [01]: Killed' "cosweep-$job.log" || fail "a killed rank: not which" "cosweep-$job.log"
grep -q 'a rank was ended by signal 9' "cosweep-$job.log" || fail "a killed rank: no word of it" "cosweep-$job.log"
cmp smoke-local.h5 killed.h5 || fail "a killed rank: the result that was there is not the same"
[ -e killed.h5.checkpoint ] || fail "a killed rank: no checkpoint is left" "cosweep-$job.log"
job=$(sbatch --parsable --nodes=1 "$scripts/sweep.sbatch" many.yaml killed.h5 --force)
ends_with "after a killed rank, on one node" "$job" COMPLETED 0
same "after a killed rank, on one node" killed.h5 many-local.h5
nothing_left "a killed rank"

job=$(submit_long cancelled.h5) || exit 1
scancel "$job"
ends_with "cancel" "$job" CANCELLED 4
[ -e cancelled.h5.checkpoint ] || fail "cancel: no checkpoint is left" "cosweep-$job.log"
rm -f cancelled.h5.checkpoint
[ ! -e cancelled.h5 ] || fail "cancel: there is a result"
nothing_left "cancel"

# ---- array and merge ---------------------------------------------------------------------------------------------------

array=$(sbatch --parsable --array=1-3 "$scripts/array.sbatch" one.yaml one.h5)
merge=$(sbatch --parsable --dependency="afterok:$array" "$scripts/merge.sbatch" one.h5 3)
ends_with "array and merge" "$merge" COMPLETED 0
same "array and merge" one.h5 one-local.h5
nothing_left "array and merge"
array=$(sbatch --parsable --array=2-3 "$scripts/array.sbatch" one.yaml two.h5)
ends_with "part of an array" "${array}_2" FAILED 2

# ---- nightly -----------------------------------------------------------------------------------------------------------

night() { # WHAT STUDY STATE CODE
    job=$(sbatch --parsable "$scripts/nightly.sbatch" "$2" nights)
    ends_with "$1" "$job" "$3" "$4"
}
passed="COMPLETED 0"
"$here/../scripts/report.py" smoke-local.h5 --cosweep "$program" --no-pictures -o report >out 2>&1 || passed="FAILED 5"
# shellcheck disable=SC2086 # state and code
night "first night" smoke.yaml $passed
[ "$(readlink nights/good)" = "$(readlink nights/latest)" ] || fail "first night: good is not the latest"
same "first night" nights/good/result.h5 smoke-local.h5
good=$(readlink nights/good)
sed 's/base: sip/&\n  overhead: {kernel: 5 us}/' smoke.yaml >worse.yaml
night "a worse night" worse.yaml FAILED 1
[ "$(readlink nights/good)" = "$good" ] || fail "a worse night is the good one"
[ "$(readlink nights/latest)" != "$good" ] || fail "a worse night is not the latest"
grep -q . nights/latest/comparison.txt || fail "a worse night: no comparison"
night "a night without a result" bad.yaml FAILED 2
# shellcheck disable=SC2086
night "a good night again" smoke.yaml $passed
[ "$(readlink nights/good)" = "$(readlink nights/latest)" ] || fail "a good night again: good is not the latest"
[ "$(readlink nights/good)" != "$good" ] || fail "a good night again: good is still the first"
[ "$(find nights -name 'unfinished-*' | wc -l)" -le 1 ] || fail "nightly: unfinished nights are left"
exit $failed
