#!/bin/sh
# Nothing that is there is lost by accident: what a run, a shard, a merge or an export may not write to.  outputs.sh PROGRAM
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
smoke=$here/../configs/smoke.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 1
passed=0
failed=0

refuses() # WORDS COMMAND...: exit code 2, a message with the words, and every file as it was
{
    words=$1
    shift
    find . -type f ! -name message.txt -exec cksum {} + | sort >before
    "$@" >/dev/null 2>message.txt
    status=$?
    find . -type f ! -name message.txt ! -name before -exec cksum {} + | sort >after
    grep -v ' ./before$' before | grep -v ' ./after$' >before.0
    grep -v ' ./before' after | grep -v ' ./after$' >after.0
    if [ $status -eq 2 ] && grep -q "$words" message.txt && cmp -s before.0 after.0; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED ($status): $*: $(cat message.txt)"
    fi
    rm -f before before.0 after after.0 message.txt
}

run() { "$program" run "$@" --progress none; }

run "$smoke" -o there.h5 >/dev/null
run "$smoke" --shard 1/2 -o part1 >/dev/null
run "$smoke" --shard 2/2 -o part2 >/dev/null
cp "$smoke" study.yaml
mkfifo pipe
ln -s nothing dangling
echo "a note" >note.txt

refuses "a device" run "$smoke" -o /dev/null --force
refuses "a folder" run "$smoke" -o . --force
refuses "a device or pipe" run "$smoke" -o pipe --force
refuses "standard output" run "$smoke" -o - --force
refuses "standard output" "$program" merge - part1 part2
refuses "standard output" "$program" export there.h5 --row best -o -
refuses "does not begin with one" "$program" explain there.h5 --row 0,99 --json
refuses "link to nothing" run "$smoke" -o dangling --force
refuses "read from" run study.yaml -o ./study.yaml --force
refuses "no result" run "$smoke" -o note.txt
cp study.yaml own.lock
cp study.yaml own.checkpoint
refuses "own.lock: is there and not empty" run "$smoke" -o own --force
refuses "own.lock: is there and not empty" run own.lock -o own --force
refuses "own.lock: is there and not empty" "$program" export there.h5 --row best -o own
rm own.lock
refuses "read from (own.checkpoint)" run own.checkpoint -o own --force
rm own.checkpoint
mkdir own.checkpoint
refuses "own.checkpoint: is a folder" run "$smoke" -o own --force
for shard in 0/2 3/2 2 2/ 1/2/3 x 4294967297/4294967298; do refuses "give I.N with I from 1 to N" run "$smoke" --shard $shard; done
refuses "no part" run "$smoke" --shard 1/2 -o there.h5
refuses "no part" run "$smoke" --shard 1/2 -o note.txt
refuses "no part" run "$smoke" --shard 1/2 -o part2
refuses "read from" "$program" merge part1 part1 part2 --force
refuses "read from" "$program" export there.h5 --row best -o there.h5 --force
refuses "exists" "$program" export there.h5 --row best -o note.txt
refuses "a pipe" "$program" size pipe
refuses "a device or pipe" "$program" show pipe
refuses "use --plan" "$program" explain there.h5 --row 0 --set plan.tp=4
refuses "No such file" "$program" explain nothing.h5 --row 0

# A limit on file sizes is an error like a full disk, and leaves nothing behind.
(ulimit -f 100; run "$smoke" -o large.h5 >/dev/null 2>message.txt)
status=$?
if [ $status -eq 5 ] && ! ls large.h5* >/dev/null 2>&1; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED ($status): a file size limit: $(cat message.txt); $(ls)"
fi

# Answers that are lost are an error, but for a reader that has seen enough.
case='{"scenario": {"model": "llama-3.1-8b", "phase": "decode", "context": 8192}, "plan": {"tp": 4}}'
echo "$case" | "$program" evaluate - >/dev/full 2>message.txt
status=$?
yes "$case" | { "$program" evaluate - 2>>message.txt; echo $? >left; } | head -n 1 >/dev/null
if [ "$status $(cat left)" = "5 0" ] && [ "$(grep -c "standard output" message.txt)" = 1 ]; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED ($status, $(cat left)): evaluate on a full disk, and on a closed pipe: $(cat message.txt)"
fi

# Through a link the file it names is written.
ln -s there.h5 link.h5
run "$smoke" -o link.h5 --force >/dev/null
if [ -L link.h5 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED: a link was replaced"; fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
