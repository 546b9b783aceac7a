#!/bin/sh
# What may go wrong on a cluster, done to a run: nothing is lost, nothing is wrong, nothing is silent.
#     tests/faults.sh PROGRAM             every fault
#     tests/faults.sh PROGRAM FAULT...    these
#     tests/faults.sh --list              their names
# A fault that cannot be made here (no name spaces, no strace, ...) is skipped, and says so.
# shellcheck disable=SC2317,SC2086,SC2013 # faults are called by name; numbers and lists of words stand bare
set -u

faults='killed_rank full_disk_checkpoint full_disk_publish unwritable_folder second_run newer_version clock_jumps no_locks
no_memory late_stop late_kill leftovers finished_study long_name traced_writes other_shard io_errors'
if [ "${1:-}" = --list ]; then
    printf '%s\n' $faults
    exit
fi
: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
script=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
here=$(dirname "$script")
shift
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_WAIT_POLICY=passive
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0" OMP_NUM_THREADS=1
failed=0
work=$(mktemp -d)
notes=$work/notes
trap 'umount "$work"/*/small 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM # by which dash does not run the one above
mkdir "$notes" && cd "$work" || exit 1

check() # WHAT STATUS
{
    [ "$2" -eq 0 ] && return
    failed=$((failed + 1))
    echo "FAILED: $fault: $1: $(tail -n 5 "$notes"/message.txt 2>/dev/null | tr '\n' ' ')"
}

# ---- what the faults share ------------------------------------------------------------------------------------------

{ cat "$here/data/studies/stopped.yaml" && echo 'sensitivity: {parallelism: {cp: 8}}'; } >study.yaml
# 10^12 candidates in units of some milliseconds: longer than any wait here, and soon stopped.
sed 's/^  tp:.*/&\n  dp: {from: 1, to: 10000, step: 1}/' study.yaml >endless.yaml

quiet() { "$@" >"$notes"/out.txt 2>"$notes"/message.txt; }
quietly() { exec "$@" >"$notes"/out.txt 2>"$notes"/message.txt; } # with & behind it: $! is the program
run() { quiet "$program" run "$@" --progress none; }
whole() { [ -e "$work/whole.h5" ] || "$program" run "$work/study.yaml" -o "$work/whole.h5" --progress none >/dev/null; }
same() { # FILE
    whole
    /usr/bin/python3 -B "$here/same.py" "$work/whole.h5" "$1" >"$notes"/same.txt 2>&1
    check "the result is another: $(head -n 2 "$notes/same.txt" | tr '\n' ' ')" $?
}
sum() { cksum <"$1"; }
says() { # WORDS
    grep -q -e "$1" "$notes"/message.txt
    check "no message with \"$1\"" $?
}
ends() { # CODE: the command before this one
    status=$?
    [ $status -eq "$1" ]
    check "exit code $status, not $1" $?
}
only() { # FILE...: what is in this folder, but for the notes of the test
    printf '%s\n' "$@" | sort >"$notes"/wanted.txt
    find . -mindepth 1 -maxdepth 1 ! -name '*.txt' ! -name '*.yaml' | sed 's/..//' | sort >"$notes"/there.txt
    cmp -s "$notes"/wanted.txt "$notes"/there.txt
    check "not only $* are there: $(tr '\n' ' ' <"$notes"/there.txt)" $?
}
edit() { # FILE [PLACE BITS]...: the bits change in these bytes of a checkpoint or part, and its checksum is right again
    /usr/bin/python3 - "$@" <<'END'
import struct, sys
M = 2**64 - 1
data = bytearray(open(sys.argv[1], "rb").read()[:-8])
for place, bits in zip(sys.argv[2::2], sys.argv[3::2]):
    data[int(place)] ^= int(bits)
h, at = 0xcbf29ce484222325, 0
for at in range(0, len(data) - 7, 8):
    h = (h ^ struct.unpack_from("<Q", data, at)[0]) * 0x100000001b3 & M
    h ^= h >> 29
for byte in data[len(data) // 8 * 8:]:
    h = (h ^ byte) * 0x100000001b3 & M
open(sys.argv[1], "wb").write(data + struct.pack("<Q", h))
END
}
skip() { # WHY: of this fault, what is left
    echo "skipped: $fault: $1"
    exit $failed
}
needs() { # PROGRAM
    command -v "$1" >/dev/null || skip "no $1 here"
}
await() { # FILE PID: until the file, a name or a pattern, is there, or the process is gone
    while ! ls $1 >/dev/null 2>&1 && kill -0 "$2" 2>/dev/null; do sleep 0.01; done
}
other_result() { # FILE: the result of another study
    "$program" run "$here/../configs/smoke.yaml" -o "$1" --progress none >/dev/null
}
# The rest of a fault, in a name space with a small disk of its own, mounted at `small`: this script again.
in_name_space() { # FAULT BYTES
    if [ -z "${COSWEEP_NAME_SPACE:-}" ]; then
        unshare -rm true 2>/dev/null || skip "no user name spaces here"
        COSWEEP_NAME_SPACE=1 unshare -rm sh "$script" "$program" "$1" || failed=1
        exit $failed
    fi
    mkdir small
    mount -t tmpfs -o "size=$2" none small || skip "no tmpfs can be mounted here"
    cp study.yaml small
}
# Fill the small disk but for some bytes.
fill() { # BYTES
    cat /dev/zero >ballast 2>/dev/null
    truncate -s "-$1" ballast
}
shim() { # a library that is put before libc
    needs cc
    cat >shim.c
    cc -shared -fPIC -o shim.so shim.c -ldl || skip "no shared library can be made here"
}

# ---- faults ---------------------------------------------------------------------------------------------------------

fault_killed_rank() {
    needs mpirun
    for rank in 0 1 2; do
        other_result out.h5
        before=$(sum out.h5)
        quietly mpirun -n 3 "$program" run study.yaml -o out.h5 --force --checkpoint 0.02s --progress none &
        launcher=$!
        await out.h5.checkpoint $launcher
        for process in $(cat "/proc/$launcher"/task/*/children); do
            tr '\0' '\n' <"/proc/$process/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$rank" && kill -9 "$process"
        done
        wait $launcher
        ends 137
        says "exited on signal 9 (Killed)"
        [ "$(sum out.h5)" = "$before" ] && [ -s out.h5.checkpoint ]
        check "the old result and the checkpoint of the run whose rank $rank was killed" $?
        : >out.h5.1.unfinished # as if it had been killed while it wrote
        quiet mpirun -n 2 "$program" run study.yaml -o out.h5 --force --resume --progress none
        ends 0
        same out.h5
        only out.h5
        rm out.h5
    done
}

fault_full_disk_checkpoint() {
    in_name_space full_disk_checkpoint 16m
    cd small || exit 1
    run study.yaml -o out.h5 --time-limit 0.001s
    ends 4
    before=$(sum out.h5.checkpoint)
    fill 4096
    run study.yaml -o out.h5 --resume --checkpoint 0.01s
    ends 5
    says "out.h5.checkpoint: cannot be saved: No space left on device; what was saved before stays"
    [ "$(sum out.h5.checkpoint)" = "$before" ]
    check "the checkpoint from before" $?
    only ballast out.h5.checkpoint
    rm ballast
    run study.yaml -o out.h5 --resume --checkpoint 0.01s
    ends 0
    same out.h5
    only out.h5
    # The same where there is no checkpoint yet.
    rm out.h5
    fill 4096
    run study.yaml -o out.h5 --checkpoint 0.01s
    ends 5
    says "No space left on device"
    only ballast
}

fault_full_disk_publish() {
    in_name_space full_disk_publish 16m
    cd small || exit 1
    other_result out.h5
    before=$(sum out.h5)
    run study.yaml -o out.h5 --force --time-limit 0.001s
    ends 4
    fill 8192
    run study.yaml -o out.h5 --force --resume --checkpoint 10h
    ends 5
    says "out.h5.*No space left on device"
    [ "$(sum out.h5)" = "$before" ]
    check "the old result" $?
    only ballast out.h5 out.h5.checkpoint
    rm ballast
    run study.yaml -o out.h5 --force --resume
    ends 0
    same out.h5
    only out.h5
    # A table to standard output on a full disk.
    fill 0
    "$program" show out.h5 >/dev/full 2>"$notes"/message.txt
    ends 5
    says "standard output"
}

# Refused before anything is computed: the study takes longer than the wait.
fault_unwritable_folder() {
    quiet timeout 60 "$program" run endless.yaml -o none/out.h5
    ends 5
    says "none/out.h5: cannot write here: No such file or directory"
    if command -v mpirun >/dev/null; then
        quiet timeout 60 mpirun -n 3 "$program" run endless.yaml -o none/out.h5
        ends 5
        [ "$(grep -c '^cosweep: .*cannot write here' "$notes"/message.txt)" = 1 ]
        check "one message of three ranks" $?
    fi
    in_name_space unwritable_folder 1m
    mount -o remount,ro small
    quiet timeout 60 "$program" run endless.yaml -o small/out.h5
    ends 5
    says "small/out.h5: cannot write here: Read-only file system"
    quiet timeout 60 "$program" run endless.yaml --shard 1/2 -o small/part
    ends 5
}

fault_second_run() {
    "$program" run endless.yaml -o out.h5 --checkpoint 0.05s --progress none >"$notes"/out.txt 2>"$notes"/first.txt &
    first=$!
    await out.h5.checkpoint $first
    "$program" run study.yaml --shard 1/1 -o part --progress none >/dev/null
    whole
    for command in "run study.yaml -o out.h5 --force" "run endless.yaml -o out.h5 --resume" "run study.yaml -o out.h5" \
        "merge out.h5 part --force" "export ../whole.h5 --row 0 -o out.h5 --force"; do
        quiet timeout 60 "$program" $command
        ends 2
        says "out.h5: is being written by another run"
    done
    kill -USR1 $first
    wait $first
    ends 4
    only out.h5.checkpoint part
}

fault_newer_version() {
    cp study.yaml now.yaml
    run now.yaml -o out.h5
    cp out.h5 newer.h5
    /usr/bin/python3 -c 'import h5py; h5py.File("newer.h5", "r+").attrs.modify("format_version", 2)'
    before=$(sum newer.h5)
    for command in "show newer.h5" "compare out.h5 newer.h5" "explain newer.h5 --row 0" "export newer.h5 --row 0"; do
        quiet "$program" $command
        ends 2
        says "newer.h5: format_version: 2 is not 1"
    done
    run now.yaml -o newer.h5
    ends 2
    says "newer.h5: exists and is no result this version can read"
    [ "$(sum newer.h5)" = "$before" ]
    check "the newer result" $?
    run now.yaml -o late.h5 --time-limit 0.001s
    run now.yaml --shard 1/1 -o part
    cp late.h5.checkpoint other.h5.checkpoint
    edit other.h5.checkpoint 60 1 # the build that saved it
    run now.yaml -o other.h5 --resume
    ends 2
    says "other.h5.checkpoint: was saved by another revision of cosweep, whose numbers may be others; it is not used"
    rm other.h5.checkpoint
    for file in late.h5.checkpoint part; do printf 3 | dd of=$file bs=1 seek=29 conv=notrunc 2>/dev/null; done
    run now.yaml -o late.h5 --resume
    ends 2
    says "late.h5.checkpoint: is of format version 3, this program reads version 2"
    quiet "$program" merge merged.h5 part
    ends 2
    says "part: is of format version 3, this program reads version 2"
    only late.h5.checkpoint newer.h5 out.h5 part
}

# The clock of the wall goes a day forward and a day back at every look.
fault_clock_jumps() {
    shim <<'SHIM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) { static long n; return (__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 2 ? -1 : 1) * 86400L; }
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int (*real)(clockid_t, struct timespec *);
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int status = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
    return status;
}
time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec at;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &at);
    *now = (struct timeval){at.tv_sec, at.tv_nsec / 1000};
    return 0;
}
SHIM
    quiet env LD_PRELOAD=$PWD/shim.so "$program" run study.yaml -o out.h5 --checkpoint 0.05s --time-limit 1h --progress log
    ends 0
    same out.h5
    /usr/bin/python3 -c 'import h5py, sys, time
sys.exit(h5py.File("out.h5").attrs["created"][:10] == time.strftime("%Y-%m-%d", time.gmtime()))'
    check "the clock did not jump" $?
    quiet env LD_PRELOAD=$PWD/shim.so timeout 60 "$program" run endless.yaml -o late.h5 --time-limit 0.3s --progress none
    ends 4
    quietly env LD_PRELOAD=$PWD/shim.so "$program" run endless.yaml -o saved.h5 --checkpoint 0.1s --progress none &
    await saved.h5.checkpoint $!
    kill -USR1 $!
    wait $!
    ends 4
    rm shim.c shim.so
    only late.h5.checkpoint out.h5 saved.h5.checkpoint
}

# Some file systems of clusters have no locks: that is no reason not to run, but one to say so.
fault_no_locks() {
    shim <<'SHIM'
#include <errno.h>
#include <stdlib.h>
int flock(int file, int operation)
{
    (void)file, (void)operation;
    errno = atoi(getenv("FLOCK_ERRNO"));
    return -1;
}
SHIM
    for number in 38 37 95; do # ENOSYS, ENOLCK, EOPNOTSUPP
        quiet env FLOCK_ERRNO=$number LD_PRELOAD=$PWD/shim.so "$program" run study.yaml -o out.h5 --progress none --force
        ends 0
        says "warning: .*out.h5: no lock can be had here"
        same out.h5
        for command in "show out.h5" "explain out.h5 --row 0" "compare out.h5 out.h5"; do
            quiet env FLOCK_ERRNO=$number LD_PRELOAD=$PWD/shim.so "$program" $command
            ends 0
        done
    done
    rm shim.c shim.so
    only out.h5
}

fault_no_memory() {
    "$program" --version | grep -q fsanitize && skip "sanitizers take all address space"
    other_result out.h5
    before=$(sum out.h5)
    n_too_small=0
    for limit_kb in 30000 40000 50000 60000 80000 100000; do
        # shellcheck disable=SC3045 # dash and bash have it
        (ulimit -v $limit_kb && quietly "$program" run study.yaml -o out.h5 --force --progress none)
        status=$?
        [ $status -eq 0 ] && break
        [ $status -eq 127 ] && continue # not even the libraries fit
        n_too_small=$((n_too_small + 1))
        [ -s "$notes"/message.txt ]
        check "silent with $limit_kb kB, exit code $status" $?
        [ "$(sum out.h5)" = "$before" ]
        check "the old result with $limit_kb kB" $?
    done
    [ $n_too_small -gt 0 ]
    check "memory was never too little" $?
    rm -f out.h5.lock
    only out.h5
}

# Told to stop after the sweep, while it looks at its rows: exit code 4, and the rest can be made later.
late() { # WHAT OPTION...
    what=$1
    shift
    start=$(date +%s%N)
    run late.yaml -o full.h5 "$@"
    ends 0
    took=$(($(date +%s%N) - start))
    for tenths in 6 5 4 3 2 1; do # of the time it took then: on a busy machine it may be over sooner now
        quietly "$program" run late.yaml -o out.h5 --progress none "$@" &
        sleep "$(awk "BEGIN { print $took * $tenths * 1e-10 }")" # the sweep is the smaller part
        kill -"$signal" $! 2>/dev/null
        wait $!
        status=$?
        [ $status -ne 0 ] && break
        [ "$tenths" = 1 ] || rm -f out.h5
    done
    [ $status -eq 4 ]
    check "$what: exit code $status, not 4" $?
    says "SIG$signal"
    only full.h5 out.h5.checkpoint
    run late.yaml -o out.h5 --resume "$@"
    ends 0
    /usr/bin/python3 -B "$here/same.py" full.h5 out.h5 >"$notes"/message.txt 2>&1
    check "$what: another result" $?
    rm -f out.h5 full.h5
}

fault_late_stop() {
    sed 's/^limits.*/search: pruned/; s/^sens.*/sensitivity: {doubling: false}/; /prefill/d; /ring/d' study.yaml >late.yaml
    many="plan.tp={from: 1, to: 64, step: 1}"
    signal=USR1
    late curves --set "sensitivity.parallelism={cp: 1024, tp: 1024, pp: 512, dp: 512, ep: 512}"
    signal=TERM
    late "the joint front" --set "$many" --set "joint={against: [cost, power]}" --set "sensitivity.parallelism={cp: 0}"
    signal=INT
    late doublings --set "$many" --set "objectives=[latency, cost, power, energy_per_token]" --set "limits={latency: 10 s}" \
        --set sensitivity.doubling=true --set "sensitivity.parallelism={cp: 0}"
    # The whole population: told when the file has begun.
    sed 's/step: 8 GB/step: 32 GB/' study.yaml >late.yaml
    run late.yaml -o full.h5 --set population.full=true
    ends 0
    quietly "$program" run late.yaml -o out.h5 --set population.full=true --progress none &
    await 'out.h5.*.unfinished' $!
    kill -USR1 $!
    wait $!
    ends 4
    says "rows of population.full"
    only full.h5 out.h5.checkpoint
    run late.yaml -o out.h5 --resume --set population.full=true
    ends 0
    /usr/bin/python3 -B "$here/same.py" full.h5 out.h5 >"$notes"/message.txt 2>&1
    check "the whole population: another result" $?
    only full.h5 out.h5
}

# Killed after the sweep: that was saved before the rest began, and is not done again.
fault_late_kill() {
    cat >late.yaml <<'END'
study: late
scenarios:
  - {name: d, phase: decode, model: llama-3.1-70b, context: 8192}
plan: {tp: 8, batch: [8, 9]}
hardware:
  base: sip
  pe:
    hbm_capacity: 24 GB
    hbm_bandwidth: {from: 1 TB/s, to: 2 TB/s, step: 1 GB/s}
    flops: {from: 4 TFLOP/s, to: 64 TFLOP/s, step: 100 GFLOP/s}
  links: {pe: {bandwidth: {from: 64 GB/s, to: 1024 GB/s, step: 1 GB/s}}, c2c: {bandwidth: [50 GB/s, 100 GB/s, 200 GB/s]}}
objectives: [latency, pes]
sensitivity: {doubling: false, parallelism: {cp: 1024, tp: 1024, pp: 512, dp: 512}}
END
    quietly "$program" run late.yaml -o out.h5 --checkpoint 9h --progress none &
    await out.h5.checkpoint $!
    kill -9 $!
    wait $!
    ends 137
    only out.h5.checkpoint out.h5.lock
    run late.yaml -o out.h5 --resume
    ends 0
    only out.h5
    [ "$(/usr/bin/python3 -c 'import h5py; print(h5py.File("out.h5")["performance/candidates_per_s"][()])')" = 0.0 ]
    check "it was swept again" $?
}

# What a killed process leaves goes with the next run, and nothing else.
fault_leftovers() {
    # Its standard error is closed: no file that it opens may be taken for that.
    "$program" run study.yaml -o out.h5 --set population.full=true --progress bar >"$notes"/out.txt 2>&- &
    await 'out.h5.[0-9]*.unfinished' $!
    kill -9 $!
    wait $!
    ends 137
    [ -e out.h5.lock ] && [ ! -s out.h5.lock ]
    check "the lock is not an empty file" $?
    ls out.h5.*.unfinished >/dev/null
    check "nothing was left to clean" $?
    mkdir out.h5.8.unfinished
    ln -s study.yaml out.h5.6.unfinished
    for name in out.h5.1 out.h5.checkpoint.77 out.h5.12x out.h5. out.h5 other.h5.5 xout.h5.5; do : >$name.unfinished; done
    : >out.h5.9.part
    run study.yaml -o out.h5 --force
    ends 0
    same out.h5
    only other.h5.5.unfinished out.h5 out.h5.12x.unfinished out.h5..unfinished out.h5.6.unfinished out.h5.8.unfinished \
        out.h5.9.part out.h5.unfinished xout.h5.5.unfinished
}

fault_finished_study() {
    run study.yaml -o out.h5 --time-limit 0.001s
    cp out.h5.checkpoint saved.txt
    run study.yaml -o out.h5 --resume
    before=$(sum out.h5)
    cp saved.txt out.h5.checkpoint # killed after it had published
    run study.yaml -o out.h5
    ends 0
    grep -q "out.h5 holds the result of this study already; --force runs it again" "$notes"/out.txt
    check "it does not say that the result is there" $?
    [ "$(sum out.h5)" = "$before" ]
    check "the result was touched" $?
    only out.h5
    run study.yaml --shard 1/2 -o part --time-limit 0.001s
    cp part.checkpoint saved.txt
    run study.yaml --shard 1/2 -o part --resume
    cp saved.txt part.checkpoint
    run study.yaml --shard 1/2 -o part
    ends 0
    only out.h5 part
    rm part
    # A checkpoint of another study is not this run's to remove.
    run study.yaml -o out.h5 --set plan.pp=1 --force --time-limit 0.001s
    ends 4
    run study.yaml -o out.h5
    ends 0
    only out.h5 out.h5.checkpoint
    rm out.h5.checkpoint
    run study.yaml -o out.h5 --set plan.pp=1
    ends 2
    says "different study"
    [ "$(sum out.h5)" = "$before" ]
    check "the result of another study" $?
    run study.yaml -o out.h5 --force
    ends 0
    [ "$(sum out.h5)" != "$before" ] # the time of its making
    check "--force did not run it again" $?
    same out.h5
}

fault_long_name() {
    long=$(printf '%0201d' 0)
    quiet timeout 60 "$program" run endless.yaml -o "$long"
    ends 2
    says "a name of 201 bytes"
    run study.yaml -o "${long%0}" --checkpoint 0.02s
    ends 0
    same "${long%0}"
    only "${long%0}"
}

# Every system call that opens, renames or removes a file, or speaks to a network.  Without a launcher: that of MPI keeps a
# folder of its session in TMPDIR and talks to its ranks.
fault_traced_writes() {
    needs strace
    strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
    mkdir results
    whole
    echo 'joint: {against: [cost]}' >>study.yaml
    echo '{"scenario": {"model": "llama-3.1-8b", "phase": "decode", "context": 8192}, "plan": {"tp": 4}}' >case.txt
    calls=trace=open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink
    calls=$calls,symlinkat,truncate,socket,connect,bind,sendto,sendmsg
    for command in "run study.yaml -o results/out.h5 --checkpoint 0.05s --set population.full=true" \
        "run study.yaml -o results/part --shard 1/1" "merge results/merged.h5 results/part" "show ../whole.h5 --csv" \
        "explain ../whole.h5 --row 0 --formulas" "compare ../whole.h5 ../whole.h5" \
        "export ../whole.h5 --row 0 -o results/row.yaml" \
        "evaluate case.txt" "size study.yaml" "models" "hardware"; do
        quiet strace -f -qq -y -e "$calls" -o trace.txt "$program" $command
        ends 0
        sed 's/^[0-9]* *//' trace.txt | grep -v -e '^+++' -e '^---' -e resumed -e ENOENT >calls.txt
        grep -E '^(socket|connect|bind|sendto|sendmsg)\(' calls.txt >"$notes"/message.txt
        [ ! -s "$notes"/message.txt ]
        check "$command: speaks to a network" $?
        grep -E '^(open|openat|openat2)\(' calls.txt | grep -E 'O_WRONLY|O_RDWR|O_CREAT|O_TRUNC' >written.txt
        grep -E '^(creat|rename|unlink|mkdir|link|symlink|truncate)' calls.txt >>written.txt
        # Beside results: /dev/null, and the counters of a build that counts lines.
        grep -v -e '"/dev/null"' -e '[.]gcda"' -e '"results/' -e "\"$PWD/results/" written.txt >"$notes"/message.txt
        [ ! -s "$notes"/message.txt ]
        check "$command: writes elsewhere" $?
        case $command in run* | merge* | export*)
            [ -s written.txt ]
            check "$command: nothing was traced" $?
            ;;
        esac
    done
    cd results && only merged.h5 out.h5 part # and row.yaml
}

# What the whole or another shard had finished would count twice in a merge: such a checkpoint is not a shard's to go on with.
fault_other_shard() {
    for from in "out.h5" "part2 --shard 2/2"; do
        quietly "$program" run study.yaml -o $from --checkpoint 0.02s --progress none &
        await "${from%% *}.checkpoint" $!
        kill -USR1 $!
        wait $!
        ends 4
        cp "${from%% *}.checkpoint" part1.checkpoint
        run study.yaml --shard 1/2 -o part1 --resume
        ends 2
        says "part1.checkpoint: is of shard . of ., not 1 of 2; it is not used"
    done
    mv out.h5.checkpoint part1.checkpoint
    mv part2.checkpoint out.h5.checkpoint # the whole may go on with what a shard had finished
    run study.yaml -o out.h5 --resume
    ends 0
    same out.h5
    edit part1.checkpoint 52 3 # 1 of 1, it says 1 of 2 now
    run study.yaml --shard 1/2 -o part1 --resume
    ends 0
    run study.yaml --shard 2/2 -o part2
    quiet "$program" merge merged.h5 part1 part2
    ends 2
    says "part2: is damaged"
    only out.h5 part1 part2
}

# What cannot be read now is not called damaged, and what cannot be written says why.
fault_io_errors() {
    run study.yaml -o out.h5 --time-limit 0.001s
    ends 4
    shim <<'SHIM'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    if (!strstr(path, ".checkpoint")) return real(path, mode);
    errno = EIO;
    return NULL;
}
ssize_t pread(int file, void *data, size_t n, off_t at)
{
    static int calls;
    ssize_t (*real)(int, void *, size_t, off_t);
    *(void **)&real = dlsym(RTLD_NEXT, "pread");
    if (++calls < 20) return real(file, data, n, at);
    errno = EIO;
    return -1;
}
ssize_t pwrite(int file, const void *data, size_t n, off_t at)
{
    (void)file, (void)data, (void)n, (void)at;
    errno = EIO;
    return -1;
}
SHIM
    quiet env LD_PRELOAD=$PWD/shim.so "$program" run study.yaml -o out.h5 --resume --progress none
    ends 2
    says "out.h5.checkpoint: cannot be read: Input/output error$"
    quiet env LD_PRELOAD=$PWD/shim.so "$program" run study.yaml -o other.h5 --progress none
    ends 5
    says "other.h5: cannot write .*: Input/output error"
    rm -f other.h5.checkpoint # of a sweep that took more than a second
    whole
    quiet env LD_PRELOAD=$PWD/shim.so "$program" show ../whole.h5
    ends 2
    says "whole.h5: cannot read .*: Input/output error$"
    rm shim.c shim.so
    run study.yaml -o out.h5 --resume
    ends 0
    same out.h5
    only out.h5
}

# ---- all ------------------------------------------------------------------------------------------------------------

[ $# -gt 0 ] || set -- $faults
for fault in "$@"; do
    printf '%s\n' $faults | grep -qx "$fault" || {
        echo "faults.sh: $fault: there is no such fault; --list names them" >&2
        exit 2
    }
    (
        mkdir "$fault" && cp ./*.yaml "$fault" && cd "$fault" || exit 1
        "fault_$fault"
        exit $failed
    ) || failed=1
    [ -n "${COSWEEP_NAME_SPACE:-}" ] || echo "$fault: done"
done
exit $failed
