#!/usr/bin/env bash
# A real Slurm of one node on this machine, for tests: `cluster.sh start DIR`, `cluster.sh stop DIR`; root on Debian.
# Everything it writes lies in DIR but for a link to its configuration at the place where clients look for one: the
# executor plugin takes SLURM_CONF out of a job's environment.
set -euo pipefail

LINK=/etc/slurm/slurm.conf

fail() {
    echo "error: $*" >&2
    exit 1
}

install_packages() {
    command -v slurmctld slurmd munged >/dev/null && return
    command -v apt-get >/dev/null || fail "slurm and munge are not installed, and there is no apt-get to install them"
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends slurm-wlm munge >"$DIR/install.log" 2>&1 ||
        fail "slurm-wlm and munge could not be installed; see $DIR/install.log (apt-get update first?)"
}

start_munge() {
    munge --no-input >/dev/null 2>&1 && return # a running one serves as well
    install --directory --owner munge --group munge --mode 755 /run/munge
    runuser --user munge -- munged # it insists on files and folders that only its user can write
    cp /run/munge/munged.pid "$PIDS/munged"
}

write_configuration() {
    local host memory
    [ ! -e "$LINK" ] || [ "$(readlink "$LINK")" = "$DIR/slurm.conf" ] || fail "$LINK: this machine belongs to a cluster"
    host="$(hostname --short)"
    memory="$(awk '/MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)"
    # Without cgroups (a container has none to give away): processes are tracked by their group. Ports and paths of
    # its own, so it disturbs no Slurm that the machine may belong to. Without a database of accounts, finished
    # jobs must stay known to squeue until the executor has asked for them: MinJobAge.
    cat >"$DIR/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MinJobAge=7200
GresTypes=gpu
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool
SlurmctldPidFile=$PIDS/slurmctld
SlurmdPidFile=$PIDS/slurmd
SlurmctldLogFile=$DIR/slurmctld.log
SlurmdLogFile=$DIR/slurmd.log
NodeName=$host CPUs=$(nproc --all) RealMemory=$memory Gres=gpu:1 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    # A GPU in name only: enough to see that jobs ask for one.
    echo "Name=gpu File=/dev/zero" >"$DIR/gres.conf"
    ln -sf "$DIR/slurm.conf" "$LINK"
}

wait_until_idle() {
    for _ in $(seq 60); do
        [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && return
        sleep 0.5
    done
    fail "the node did not come up in 30 s; see $DIR/slurmctld.log and $DIR/slurmd.log"
}

stop() {
    local daemon
    for daemon in slurmd slurmctld munged; do
        [ ! -s "$PIDS/$daemon" ] || kill "$(cat "$PIDS/$daemon")" 2>/dev/null || true
        rm -f "$PIDS/$daemon"
    done
    [ "$(readlink "$LINK")" != "$DIR/slurm.conf" ] || rm "$LINK"
}

[ $# -eq 2 ] || fail "usage: cluster.sh start|stop DIR"
mkdir -p "$2"
DIR="$(cd "$2" && pwd)"
PIDS="$DIR/pids"
case "$1" in
start)
    [ "$(id -u)" = 0 ] || fail "a cluster can only be started by root"
    mkdir -p "$DIR/state" "$DIR/spool" "$PIDS"
    install_packages
    start_munge
    write_configuration
    slurmctld -c -f "$DIR/slurm.conf"
    slurmd -f "$DIR/slurm.conf"
    wait_until_idle
    ;;
stop) stop ;;
*) fail "$1: allowed: start, stop" ;;
esac
