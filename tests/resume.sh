#!/bin/sh
# Kills a sweep at random points and resumes it, with other numbers of threads and ranks each time, to the same result:
#     tests/resume.sh PROGRAM [KILLS]
# Also: signals save and exit with 4, a damaged or foreign checkpoint is refused, shards merge to the whole.
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
kills=${2:-12}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM # dash runs no EXIT trap on a signal
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMP_WAIT_POLICY=passive
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
passed=0
failed=0

check() # NAME STATUS
{
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $1"; fi
}

cp "$here/data/studies/stopped.yaml" study.yaml

same() # NAME FILE
{
    /usr/bin/python3 "$here/same.py" whole.h5 "$2" >same.txt 2>&1
    check "$1: $(head -n 2 same.txt | tr '\n' ' ')" $?
}

OMP_NUM_THREADS=1 "$program" run study.yaml -o whole.h5 --progress none >/dev/null
check "an uninterrupted run" $?

# ---- kills ------------------------------------------------------------------------------------------------------------
# A run takes about a second: each is killed some hundredths of a second after the one before it got.
seed=12345
kill_n=0
while [ "$kill_n" -lt "$kills" ]; do
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    wait_s=$(printf '0.%02d' $((seed / 65536 % 60 + 5)))
    threads=$((seed / 4096 % 3 + 1))
    OMP_NUM_THREADS=$threads "$program" run study.yaml -o killed.h5 --resume --checkpoint 0.02s --progress none \
        >/dev/null 2>&1 &
    pid=$!
    sleep "$wait_s"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    kill_n=$((kill_n + 1))
    if [ -f killed.h5 ] || [ $((kill_n % 4)) -eq 0 ]; then
        OMP_NUM_THREADS=2 "$program" run study.yaml -o killed.h5 --resume --progress none >/dev/null
        same "resumed after kill $kill_n" killed.h5
        [ "$(ls -d killed.h5*)" = killed.h5 ]
        check "nothing is left beside the result after kill $kill_n: $(ls -d killed.h5* | tr '\n' ' ')" $?
        rm -f killed.h5 killed.h5.*
    fi
done

# ---- signals ----------------------------------------------------------------------------------------------------------
for signal in TERM INT USR1; do
    OMP_NUM_THREADS=1 "$program" run study.yaml -o signal.h5 --checkpoint 0.02s --progress none >/dev/null 2>message.txt &
    pid=$!
    while [ ! -e signal.h5.checkpoint ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -s $signal $pid
    wait $pid
    status=$?
    [ $status -eq 4 ] && [ -s signal.h5.checkpoint ] && grep -q "SIG$signal" message.txt
    check "SIG$signal saves and exits with 4 (got $status: $(cat message.txt))" $?
    mpirun -n 2 "$program" run study.yaml -o signal.h5 --resume --progress none >/dev/null 2>&1
    same "resumed on two ranks after SIG$signal" signal.h5
    [ ! -e signal.h5.checkpoint ] && [ ! -e signal.h5.lock ]
    check "nothing is left beside the result after SIG$signal" $?
    rm -f signal.h5*
done

# One rank that is told stops all, and the one that speaks knows why.
OMP_NUM_THREADS=1 mpirun -q -n 2 sh -c 'echo $$ >pid-$OMPI_COMM_WORLD_RANK; exec "$@"' rank "$program" run study.yaml \
    -o signal.h5 --checkpoint 0.02s --progress none >/dev/null 2>message.txt &
pid=$!
while [ ! -e signal.h5.checkpoint ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -s TERM "$(cat pid-1)"
wait $pid
status=$?
[ $status -eq 4 ] && grep -q "stopped by SIGTERM" message.txt
check "SIGTERM of rank 1 only (got $status: $(cat message.txt))" $?

# What the checkpoint held took no time now: the rate is of what was done since.
"$program" run study.yaml -o signal.h5 --resume --progress none >/dev/null
/usr/bin/python3 - >message.txt 2>&1 <<'END'
import h5py

def evaluated(name):  # as counted, and as the rate says
    with h5py.File(name) as file:
        done = file["performance"]
        counted = sum(int(scenario.attrs["evaluated"]) for scenario in file["scenarios"].values())
        return counted, done["candidates_per_s"][()] * done["sweep"][()]

counted, rated = evaluated("whole.h5")
assert abs(rated / counted - 1) < 1e-9, f"uninterrupted: {rated} of {counted}"
counted, rated = evaluated("signal.h5")
assert 0 < rated < 0.999 * counted, f"resumed: {rated} of {counted}"
END
check "the rate of a resumed run: $(tail -n 1 message.txt)" $?
rm -f signal.h5*

# ---- rounds -------------------------------------------------------------------------------------------------------------
# Seven grids, and each time a part of what they take, from a fifth on: what is finished of them is saved.
cat >rounds.yaml <<'END'
study: rounds
depth: two_stage
search: pruned
scenarios:
  - {name: d, phase: decode, model: qwen3-8b, context: 8192}
  - {name: p, phase: prefill, model: qwen3-8b, new_tokens: 2048}
plan: {tp: [1, 2, 4, 8], cp: [1, 2], pp: [1, 2, 3, 4], dp: {from: 1, to: 16, step: 1}, batch: {from: 1, to: 16, step: 1}}
hardware:
  base: sip
  pe: {flops: auto, hbm_bandwidth: auto, hbm_capacity: auto}
  links: {pe: {bandwidth: auto}}
sensitivity: {doubling: false, elasticity: false, parallelism: {tp: 8}}
objectives: [latency, cost]
END
started_s=$(date +%s.%N)
OMP_NUM_THREADS=1 "$program" run rounds.yaml -o rounds.h5 --progress none >/dev/null
check "rounds without an interruption" $?
limit_s=$(awk -v from="$started_s" -v to="$(date +%s.%N)" 'BEGIN { print (to - from) / 5 }')
tries=0
while [ ! -e again.h5 ] && [ "$tries" -lt 50 ]; do
    tries=$((tries + 1))
    OMP_NUM_THREADS=$((tries % 2 + 1)) "$program" run rounds.yaml -o again.h5 --resume --checkpoint 0.02s \
        --time-limit "$limit_s" --progress none >/dev/null 2>message.txt
    status=$?
    [ ! -e again.h5.checkpoint ] || cp again.h5.checkpoint late
    limit_s=$(awk "BEGIN { print $limit_s * 1.2 }")
    [ $status -eq 4 ] || [ $status -eq 0 ] || check "try $tries of rounds (got $status: $(cat message.txt))" 1
done
/usr/bin/python3 "$here/same.py" rounds.h5 again.h5 >same.txt 2>&1
check "rounds in $tries runs: $(head -n 2 same.txt | tr '\n' ' ')" $?
/usr/bin/python3 -c 'import struct; print("%d of two_stage, %d bytes before" % struct.unpack("<qq", open("late", "rb").read()[-24:-8]))' >late.txt
grep -q "[1-9][0-9]* bytes before" late.txt
check "the last checkpoint, in round $(cat late.txt)" $?
[ "$(ls -d again.h5*)" = again.h5 ]
check "nothing is left beside the result of $tries runs: $(ls -d again.h5* | tr '\n' ' ')" $?
cp late again.h5.checkpoint
"$program" run rounds.yaml -o again.h5 --force --resume --time-limit 0.001s --progress none >/dev/null 2>message.txt
[ $? -eq 4 ] && cmp -s late again.h5.checkpoint
check "stopped before it is as far as its checkpoint: $(cat message.txt)" $?
OMP_NUM_THREADS=1 "$program" run rounds.yaml -o other.h5 --time-limit 0.001s --progress none >/dev/null 2>&1
"$program" run rounds.yaml -o other.h5 --resume --set plan.pp=1 --progress none >/dev/null 2>message.txt
[ $? -eq 2 ] && grep -q "different study" message.txt
check "a checkpoint of other rounds: $(cat message.txt)" $?

# ---- checkpoints that may not be used ---------------------------------------------------------------------------------
OMP_NUM_THREADS=1 "$program" run study.yaml -o limit.h5 --time-limit 0.001s --progress none >/dev/null 2>&1
check "the time limit exits with 4" $(($? != 4))
cp limit.h5.checkpoint good
refused() # NAME WORDS
{
    "$program" run study.yaml -o limit.h5 --resume --progress none >/dev/null 2>message.txt
    [ $? -eq 2 ] && grep -q "$2" message.txt && [ ! -e limit.h5 ]
    check "$1: $(cat message.txt)" $?
    cp good limit.h5.checkpoint
}
head -c 1000 good >limit.h5.checkpoint
refused "a truncated checkpoint" "damaged\|cut short"
printf 'x' | dd of=limit.h5.checkpoint bs=1 seek=5000 conv=notrunc 2>/dev/null
refused "a damaged checkpoint" "checksum"
: >limit.h5.checkpoint
refused "an empty checkpoint" "cut short"
echo "hello, this is a text file and no checkpoint, with enough bytes to be one if the right ones were in it" \
    >limit.h5.checkpoint
refused "a foreign file" "no checkpoint"
"$program" run study.yaml -o limit.h5 --resume --set plan.pp=1 --progress none >/dev/null 2>message.txt
[ $? -eq 2 ] && grep -q "different study" message.txt
check "a checkpoint of another study: $(cat message.txt)" $?

# ---- shards -------------------------------------------------------------------------------------------------------------
for shard in 1 2 3; do
    "$program" run study.yaml --shard $shard/3 -o part$shard --progress none >/dev/null
    check "shard $shard" $?
done
"$program" merge merged.h5 part2 part3 part1 >/dev/null
same "merged shards" merged.h5
"$program" merge none.h5 part1 part3 2>message.txt
[ $? -eq 2 ] && grep -q "shard 2 of 3 is missing" message.txt
check "a missing shard: $(cat message.txt)" $?
"$program" merge none.h5 part1 part1 part2 part3 2>message.txt
[ $? -eq 2 ] && grep -q "give each once" message.txt
check "a doubled shard: $(cat message.txt)" $?
"$program" run study.yaml --shard 2/3 -o foreign --set plan.pp=1 --progress none >/dev/null
"$program" merge none.h5 part1 foreign part3 2>message.txt
[ $? -eq 2 ] && grep -q "another study" message.txt
check "a foreign shard: $(cat message.txt)" $?

OMP_NUM_THREADS=1 "$program" run study.yaml --shard 1/3 -o late1 --time-limit 0.001s --progress none >/dev/null 2>&1
mv late1.checkpoint late2.checkpoint
"$program" run study.yaml --shard 2/3 -o late2 --resume --progress none >/dev/null 2>message.txt
[ $? -eq 2 ] && grep -q "is of shard 1 of 3, not 2 of 3" message.txt
check "a checkpoint of another shard: $(cat message.txt)" $?

# ---- no surprises -------------------------------------------------------------------------------------------------------
"$program" run study.yaml -o whole.h5 --progress none | grep -q "already"
check "a result that is there is not made again" $?
"$program" run study.yaml -o whole.h5 --set plan.pp=1 --progress none 2>message.txt >/dev/null
[ $? -eq 2 ] && grep -q "different study" message.txt
check "a result of another study is not replaced: $(cat message.txt)" $?

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
