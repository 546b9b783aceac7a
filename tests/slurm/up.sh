#!/bin/sh
# Starts a private Slurm of emulated nodes on this machine: no systemd, no root needed; key, ports and folders are its own.
#   tests/slurm/up.sh FOLDER NODES CPUS OWNER
# FOLDER is new, with a short name: paths of sockets end at 107 characters.  The nodes n1, n2, ... have CPUS each, whatever
# the machine has.  When the process OWNER ends, in whatever way, Slurm ends too (down.sh) and FOLDER goes.
# Afterwards: export SLURM_CONF=FOLDER/slurm.conf.  Exit code 0 when all nodes are idle; 1 with the logs when they are not.
set -eu

[ $# = 4 ] || { echo "up.sh: $# arguments; give FOLDER NODES CPUS OWNER" >&2; exit 2; }
folder=$1 n_nodes=$2 n_cpus=$3 owner=$4
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
umask 022
mkdir "$folder"
folder=$(cd "$folder" && pwd)
host=$(hostname -s)
user=$(id -un)

# Consecutive free ports: the controller's, then one for each node.  Below the range from which the system gives ports to
# clients, so that none is taken between this look and the daemons' start.
first_port=$(/usr/bin/python3 - "$n_nodes" <<'END'
import random, socket, sys
for _ in range(1000):
    first = random.randrange(10000, 30000)
    sockets = [socket.socket() for _ in range(int(sys.argv[1]) + 1)]
    try:
        for i, one in enumerate(sockets):
            one.bind(("127.0.0.1", first + i))
    except OSError:
        continue
    finally:
        for one in sockets:
            one.close()
    print(first)
    sys.exit(0)
sys.exit("up.sh: no free ports between 10000 and 30000")
END
)

# munged refuses a key that others may read and folders that others may write.
mkdir "$folder/state" "$folder/spool" "$folder/log" "$folder/key" "$folder/munge"
chmod 700 "$folder/key"
dd if=/dev/urandom of="$folder/key/key" bs=128 count=1 2>/dev/null
chmod 400 "$folder/key/key"

cat >"$folder/slurm.conf" <<END
ClusterName=private
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$first_port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=100000,bf_interval=1
ReturnToService=2
SwitchType=switch/none
SlurmctldTimeout=60
SlurmdTimeout=60
InactiveLimit=0
MinJobAge=300
KillWait=20
Waittime=0
JobRequeue=1
SlurmdParameters=config_overrides
END
for i in $(seq "$n_nodes"); do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((first_port + i)) CPUs=$n_cpus" >>"$folder/slurm.conf"
done
echo "PartitionName=main Nodes=n[1-$n_nodes] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO" >>"$folder/slurm.conf"
# Version 1 and no plugin that uses it: slurmd starts with any /sys/fs/cgroup, or none.
echo "CgroupPlugin=cgroup/v1" >"$folder/cgroup.conf"
export SLURM_CONF="$folder/slurm.conf"

# From here on something runs.  The guard first, so that nothing is left if the next line is the last.
(trap '' HUP INT TERM USR1
 while kill -0 "$owner" 2>/dev/null; do sleep 1; done
 exec sh "$here/down.sh" "$folder") </dev/null >/dev/null 2>&1 &

fail() {
    echo "up.sh: $*" >&2
    tail -n 20 "$folder"/log/* >&2
    exit 1
}
munged --force --key-file="$folder/key/key" --socket="$folder/munge/socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/log/munged" --seed-file="$folder/key/seed" 2>"$folder/log/munged.start" ||
    fail "munged does not start"
slurmctld -f "$SLURM_CONF" >"$folder/log/slurmctld.start" 2>&1 || fail "slurmctld does not start"
for i in $(seq "$n_nodes"); do
    # A folder of settings for each node: PMIx keeps its files in one that two nodes must not share.
    mkdir "$folder/n$i" "$folder/spool/n$i" "$folder/n$i/pmix"
    cp "$folder/slurm.conf" "$folder/cgroup.conf" "$folder/n$i/"
    echo "PMIxCliTmpDirBase=$folder/n$i/pmix" >"$folder/n$i/mpi.conf"
    slurmd -N "n$i" -f "$folder/n$i/slurm.conf" >"$folder/log/slurmd.n$i.start" 2>&1 || fail "slurmd n$i does not start"
done
for _ in $(seq 60); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" != "$n_nodes" ] || exit 0
    sleep 0.5
done
fail "$n_nodes nodes are not idle after 30 s: $(sinfo -h -o '%D %T' 2>&1 | tr '\n' ' ')"
