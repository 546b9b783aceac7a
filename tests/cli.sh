#!/bin/sh
# Transcripts: tests/transcripts/*.txt hold command lines ("$ ..."), and under each its standard output, its messages
# ("! ..."), and its exit code where it is not 0 ("? N").  Each file runs in an empty folder of its own, with `cosweep` on
# PATH and the transcripts' folder as $DATA.
#   tests/cli.sh PROGRAM           compare
#   tests/cli.sh PROGRAM update    write what the program does now; read the difference before committing it
set -u

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
update=${2:-}
DATA=$(cd "$(dirname "$0")/transcripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/bin"
ln -s "$program" "$work/bin/cosweep"
PATH=$work/bin:$PATH
unset NO_COLOR OMP_NUM_THREADS
export PATH DATA
failed=0

replay() { # TRANSCRIPT: what the program says now
    sed -n 's/^\$ //p' "$1" | while IFS= read -r line; do
        printf '$ %s\n' "$line"
        sh -c "$line" >"$work/out" 2>"$work/err" </dev/null
        code=$?
        cat "$work/out"
        sed "s|$DATA|DATA|g; s/^/! /" "$work/err"
        [ $code = 0 ] || printf '? %s\n' "$code"
    done
}

for transcript in "$DATA"/*.txt; do
    name=$(basename "$transcript" .txt)
    mkdir "$work/$name"
    (cd "$work/$name" && replay "$transcript") >"$work/$name.now"
    if [ "$update" = update ]; then
        cp "$work/$name.now" "$transcript"
    elif ! diff -u "$transcript" "$work/$name.now"; then
        echo "cli.sh: $name: the program no longer says what the transcript says" >&2
        failed=1
    fi
done
exit $failed
