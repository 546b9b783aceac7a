#!/bin/sh
# Ends the private Slurm of up.sh with its jobs, and removes its folder: tests/slurm/down.sh FOLDER
# Ends exactly the daemons that left their numbers in FOLDER and what they started, nothing by name.
set -u

[ $# = 1 ] || { echo "down.sh: $# arguments; give the FOLDER that up.sh was given" >&2; exit 2; }
[ -s "$1/slurm.conf" ] || exit 0
folder=$(cd "$1" && pwd)
export SLURM_CONF="$folder/slurm.conf"

# A zombie has ended: where process 1 does not collect them they stay.
runs() {
    state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)
    [ -n "$state" ] && [ "$state" != Z ]
}

# The steps' shepherds leave their daemon's group; they are known by the folder they were given in SLURM_CONF.
steps() {
    grep -lzsF "SLURM_CONF=$folder/" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do
        case $({ tr "\0" " " <"/proc/$pid/cmdline"; } 2>/dev/null) in slurmstepd*) echo "$pid" ;; esac
    done
}

end() { # PROCESS...: politely, then surely
    for pid; do kill "$pid" 2>/dev/null; done
    for _ in $(seq 50); do
        alive=
        for pid; do ! runs "$pid" || alive="$alive $pid"; done
        [ -n "$alive" ] || return 0
        sleep 0.1
    done
    # shellcheck disable=SC2086 # a list of numbers
    kill -KILL $alive 2>/dev/null
}

if [ -s "$folder/slurmctld.pid" ] && runs "$(cat "$folder/slurmctld.pid")"; then
    timeout 10 scancel --quiet --user="$(id -un)" 2>/dev/null
    for _ in $(seq 50); do
        [ -n "$(timeout 5 squeue -h 2>/dev/null)" ] || break
        sleep 0.1
    done
fi
# shellcheck disable=SC2046 # lists of numbers
end $(steps)
for file in "$folder"/slurmd.*.pid "$folder/slurmctld.pid" "$folder/munged.pid"; do
    [ ! -s "$file" ] || end "$(cat "$file")"
done
rm -rf "$folder"
