#!/bin/sh
# Every kind of picture of scripts/plot.py draws, in each format; the same twice; and says what is wrong where it cannot.
set -eu

: "${1:?give the program: build/cosweep}"
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

"$program" run "$root/tests/transcripts/small.yaml" --set 'joint={against: [cost]}' -o small.h5 --progress none >/dev/null
"$root/scripts/plot.py" --list >list
[ "$(wc -l <list)" -ge 15 ] || { echo "plot.sh: --list names too few kinds" >&2; exit 1; }

n=0
for kind in $(cut -d ' ' -f 1 list); do
    suffix=$(echo png pdf svg | cut -d ' ' -f $((n % 3 + 1)))
    n=$((n + 1))
    "$root/scripts/plot.py" "$kind" small.h5 --scenario prefill-4k --cosweep "$program" -o "$kind.$suffix" 2>warnings
    [ ! -s warnings ] || { echo "plot.sh: $kind:" >&2; cat warnings >&2; exit 1; }
    case $(head -c 5 "$kind.$suffix" | od -An -c | tr -d ' \n') in
    211PNG* | %PDF-* | '<?xml'*) ;;
    *) echo "plot.sh: $kind.$suffix is none" >&2; exit 1 ;;
    esac
    [ "$(wc -c <"$kind.$suffix")" -gt 5000 ] || { echo "plot.sh: $kind.$suffix is too small to show anything" >&2; exit 1; }
done

for turn in a b; do
    "$root/scripts/plot.py" compare small.h5 --row 0 --row 2 -o $turn.svg
    "$root/scripts/plot_pareto.py" small.h5 -o $turn.png
done
cmp a.svg b.svg
cmp a.png b.png

refuses() { # WORDS OF THE MESSAGE, then arguments
    words=$1
    shift
    if "$root/scripts/plot.py" "$@" 2>message; then
        echo "plot.sh: plot.py $* did not fail" >&2
        exit 1
    fi
    grep -q "$words" message || { echo "plot.sh: plot.py $* says:" >&2; cat message >&2; exit 1; }
}
refuses 'ends in none of .png, .pdf, .svg' stages small.h5 -o stages.gif
refuses 'scenario decode-8k has rows 0 to' stages small.h5 --row 999 -o stages.png
refuses 'has no scenario `decode`; it has decode-8k, prefill-4k' stages small.h5 --scenario decode -o stages.png
"$program" run "$root/tests/transcripts/small.yaml" --set limits.latency=1ns -o none.h5 --progress none >/dev/null 2>&1 ||
    [ $? = 3 ]
refuses 'holds nothing for `stages`' stages none.h5 -o stages.png
"$root/scripts/plot.py" refusals none.h5 -o refusals.png
"$root/scripts/plot_pareto.py" none.h5 none.png
