#!/bin/sh
# To add a knob, a model, a machine or a metric is to change one place (README, Contribute): a copy of the sources gets one of
# each, is built, and the program is asked for all of them: tests/additions.sh PROGRAM
# Where there is no compiler or no cmake this says so and is skipped.
# shellcheck disable=SC1003 # lines of a macro end in a backslash
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
for needed in cmake cc; do
    command -v $needed >/dev/null || { echo "additions.sh: skipped: no $needed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/scripts"
cp -R "$root/src" "$root/include" "$root/CMakeLists.txt" "$work"
cp "$root/scripts/build_facts.cmake" "$work/scripts"
cd "$work" || exit 1

fail() { # WHAT [LOG]
    echo "additions.sh: $1" >&2
    [ $# = 1 ] || tail -n 20 "$2" | sed 's/^/    /' >&2
    exit 1
}

# Puts a line of a table before the first line that has TEXT, and says where there is none.
insert() { # FILE TEXT LINE
    grep -qF "$2" "$1" || fail "$1: no line has $2: where do its rows stand now?"
    awk -v text="$2" -v line="$3" 'index($0, text) && !done { print line; done = 1 } { print }' "$1" >changed && cp changed "$1"
}

# Edits a line of a source, and says where there is none such.
change() { # FILE SED
    sed "$2" "$1" >changed
    ! cmp -s changed "$1" || fail "$1: $2 changes nothing: how does the line read now?"
    cp changed "$1"
}

# ---- one place each ------------------------------------------------------------------------------------------------------

insert src/model/presets.def 'PRESET("llama-2-7b"' \
    'PRESET("added-model", 4, 512, 8, 2, 64, 2048, 32000, 0, "added for a test", "none", GATED)'
insert src/hardware/presets.def 'MACHINE("a100-40"' \
    'MACHINE("added-machine", "added for a test", "none", NODE(4, TOPOLOGY_RING), ONE_CUBE, PEAK(100, 2, 2, 4, 10), HBM(100, 2000),
        PE_PORT(100), NETWORK(TOPOLOGY_SWITCH, 100), FITTED_A100, FLOP_7NM, BYTE_HBM2, LINK_NVLINK, LINK_NETWORK, TDP(400),
        STACKED_MEMORY, DIE_7NM(500, 100), PORTS)'
insert include/cosweep/evaluate.h 'X(POWER, "power"' \
    '    X(ENERGY_DELAY, "energy_delay", NUMBER, LOW, RATES, (m.active_j + m.idle_w * m.pes * m.step_s) * m.step_s, "added") \'
insert include/cosweep/hardware.h 'X(hbm_capacity, "pe.hbm_capacity"' \
    '    X(hbm_refresh, "pe.hbm_refresh", WORK, FRACTION, 0, 0.5, "", "share of the time that HBM refreshes") \'
change src/evaluate/rates.c \
    's/(h->hbm_bandwidth \* h->hbm_efficiency)/(h->hbm_bandwidth * (1.0 - h->hbm_refresh) * h->hbm_efficiency)/' # uses it
insert include/cosweep/plan.h 'X(ring, "ring"' \
    '    X(norm_scope, "norm_scope", CODE, 0, 1, "whole|tp", "ranks that share the first norm of a layer") \'
change src/lower/attention.c \
    's/row->vector_flop = 4.0 \* n \* hidden;/row->vector_flop = 4.0 * n * hidden \/ (s->plan.norm_scope == 1 ? (double)s->plan.tp : 1.0);/'

# ---- the program has them ------------------------------------------------------------------------------------------------

{ cmake -S . -B build -DBUILD_TESTING=OFF -DCOSWEEP_WERROR=ON -DCMAKE_C_FLAGS_RELEASE=-O0 &&
    cmake --build build --parallel "$(nproc)"; } >log 2>&1 || fail "the sources with one addition each do not build" log
cosweep=$work/build/cosweep
$cosweep models added-model >out 2>&1 || fail "no model" out
$cosweep hardware added-machine >out 2>&1 || fail "no machine" out
$cosweep hardware --knobs >out 2>&1
grep -q '^pe.hbm_refresh ' out || fail "hardware --knobs does not list the knob" out
cat >study.yaml <<'END'
study: additions
scenarios: [{name: decode, model: added-model, phase: decode, context: 1k}, {name: prefill, model: added-model, phase: prefill, new_tokens: 1k}]
plan: {tp: [1, 2, 4], norm_scope: [whole, tp]}
hardware: {base: added-machine, pe: {hbm_refresh: [0, 25%], vector_flops: 1 GFLOP/s}}
objectives: [latency, energy_delay]
END
$cosweep run study.yaml -o full.h5 --progress none >out 2>&1 || fail "a sweep over the additions" out
grep -q 'candidates  12 distinct' out || fail "not 3 x 2 x 2 candidates" out
$cosweep run study.yaml -o pruned.h5 --set search=pruned --progress none >out 2>&1 || fail "a pruned sweep over the additions" out
/usr/bin/python3 - <<'END' || fail "the results"
import h5py
full, pruned = h5py.File("full.h5"), h5py.File("pruned.h5")
for name, scenario in full["scenarios"].items():
    pareto, effects = scenario["pareto"], scenario["main_effects"]
    columns = {column: pareto[column][:].tolist() for column in ("latency", "energy_delay", "hbm_refresh", "norm_scope")}
    assert columns["hbm_refresh"] == [0.0] * len(pareto["row"]), (name, columns)
    assert columns["norm_scope"][0] == 1, (name, columns)
    assert {"hbm_refresh", "norm_scope"} <= set(effects), (name, list(effects))
    other = pruned["scenarios"][name]["pareto"]
    assert all(other[column][:].tolist() == values for column, values in columns.items()), name
END
echo "additions.sh: a model, a machine, a metric, a knob of the machine and one of the plan, one place each"
