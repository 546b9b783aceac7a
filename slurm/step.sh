# Runs cosweep over the nodes of a job, and sends the job back to the queue when it has to stop early.  Sourced by the job
# scripts (Slurm runs those as copies in a folder of its own, so they ask it where they came from to find this file).
#
#     Slurm --USR1, two minutes before the end--> batch shell --USR1--> srun --USR1--> every rank
#     ranks save a checkpoint, exit code 4 ------> batch shell: scontrol requeue; the next start resumes
#
# shellcheck shell=bash

# A sweep gains hours from each start.  One that is sent back this often never gets its two minutes: its --time is too short.
readonly MAX_RESTARTS=100

# The last task of an array has the array's own number as its SLURM_JOB_ID, and by that Slurm would take all of them.
job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
readonly job=${job:-$SLURM_JOB_ID}

job_says() {
    echo "$SLURM_JOB_NAME $job: $*" >&2
}

# $COSWEEP, or the program built here, or the one on PATH.
find_program() { # ROOT
    local program=${COSWEEP:-$1/build/cosweep}
    [ -n "${COSWEEP:-}" ] || [ -x "$program" ] || program=$(command -v cosweep)
    if [ ! -x "$program" ]; then
        job_says "no program ${program:-$1/build/cosweep}; build it with scripts/build.sh, or export COSWEEP=FILE"
        return 1
    fi
    echo "$program"
}

# The largest or smallest number of Slurm's short form: "8(x3),4" has 8 and 4.
numbers() { tr ',' '\n' <<<"$1" | sed 's/(.*//' | sort -n; }
largest() { numbers "$1" | tail -n 1; }
smallest() { numbers "$1" | head -n 1; }

# Sets `ranks` and `threads`: one rank to a node if nothing was asked for; the CPUs of the smallest node shared by its ranks.
read_allocation() {
    local ranks_per_node=1
    ranks=${SLURM_NTASKS:-$SLURM_JOB_NUM_NODES}
    [ -z "${SLURM_NTASKS:-}" ] || ranks_per_node=$(largest "$SLURM_TASKS_PER_NODE")
    threads=${SLURM_CPUS_PER_TASK:-$(($(smallest "$SLURM_JOB_CPUS_PER_NODE") / ranks_per_node))}
    [ "$threads" -ge 1 ] || threads=1
}

back_to_queue() {
    if [ "${SLURM_RESTART_COUNT:-0}" -ge "$MAX_RESTARTS" ]; then
        job_says "restarted $SLURM_RESTART_COUNT times and still not done; submit it again with a longer --time"
    elif scontrol requeue "$job"; then
        job_says "stopped before it was done; it goes back to the queue and resumes from its checkpoint"
    else
        job_says "stopped before it was done, and Slurm does not take it back; submit it again and it resumes"
    fi
}

# Which file a result is now: every run that writes one makes a new file.
file_of() { stat -c %i "$1" 2>/dev/null; }

# Whether the step left what it should have: srun has been seen to end with 0 although no rank could be started.
left_result() { # RESULT FILE_BEFORE OPTION...
    local result=$1 before=$2 option
    shift 2
    [ -e "$result" ] || return 1
    for option; do
        case $option in --force | -f) [ "$(file_of "$result")" != "$before" ] || return 1 ;; esac
    done
}

# Ranks end together: cosweep run keeps all of them until rank 0 has written.  One that ended this many seconds before the
# others was killed or has crashed, and they would wait for it for ever: srun kills them (its option --wait) and says so.
# Not at once: --kill-on-bad-exit does that at any exit code but 0, and its 137 hides the code.  And not by a scancel in the
# step: the first node that it reaches kills it with the step's other processes, often before it has reached the next node.
export SLURM_WAIT=${SLURM_WAIT:-60}

# Starts the ranks and waits for them; returns srun's exit code and sets `told` and `ending`.
launch() { # COMMAND...
    local step='' signalled='' code
    told='' ending=''
    trap 'told=yes signalled=yes; [ -z "$step" ] || kill -USR1 "$step"' USR1
    # Cancelled or preempted: Slurm signals the ranks itself, and decides itself whether the job runs again.
    trap 'ending=yes signalled=yes' TERM
    # Since version 22.05 srun does not take --cpus-per-task from the job.
    OMP_NUM_THREADS=$threads srun --mpi="${COSWEEP_MPI:-pmix}" --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$ranks" \
        --cpus-per-task="$threads" --cpu-bind=cores --kill-on-bad-exit=0 "$@" &
    step=$!
    # A trapped signal interrupts `wait`, which then returns early.
    while
        signalled=''
        wait "$step"
        code=$?
        [ -n "$signalled" ]
    do :; done
    trap '' USR1
    return $code
}

# Returns the exit code of `cosweep run`; ends the job where that had to stop early.
run_step() { # PROGRAM STUDY RESULT OPTION...
    local program=$1 study=$2 result=$3 before code
    shift 3
    read_allocation
    job_says "$ranks ranks of $threads threads on $SLURM_JOB_NUM_NODES nodes ($SLURM_JOB_NODELIST)"
    before=$(file_of "$result")
    launch "$program" run "$study" --output "$result" --resume "$@"
    code=$?
    # Above 128: told to stop before the program was there to listen.
    if [ -z "$ending" ] && { [ $code = 4 ] || { [ -n "$told" ] && [ $code -gt 128 ]; }; }; then
        back_to_queue
        exit 4
    elif [ $code -gt 128 ]; then
        job_says "a rank was ended by signal $((code - 128)), which one says srun above; submit again, it resumes from the" \
            "last checkpoint"
    elif [ $code = 1 ]; then
        job_says "the ranks could not be started; does \`srun --mpi=list\` know ${COSWEEP_MPI:-pmix}?"
        code=5 # cosweep run never says 1, MPI does; 1 is for the gate of a nightly sweep
    elif [ $code = 0 ] && ! left_result "$result" "$before" "$@"; then
        job_says "no result $result, although srun saw no error; what it wrote above says why"
        code=5
    fi
    return $code
}
