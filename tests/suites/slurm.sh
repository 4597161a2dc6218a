#!/usr/bin/env bash
# A real Slurm of one host, this one, for as long as a command runs:
#
#     tests/suites/slurm.sh FOLDER PORT PORT[,PORT...] COMMAND...
#
# FOLDER is for its files, the ports for its daemons: with several behind the comma, there are as
# many nodes, n0, n1, ..., which differ in their names. As root. The daemons stay in the foreground,
# so that they end with this script's process group, however it ends.
# What a step that was killed leaves in TmpFS would keep one of the same number, in a
# later Slurm, from starting.
set -euo pipefail

folder=$1 controller_port=$2
IFS=, read -ra ports <<<"$3"
shift 3
host=$(hostname -s)
nodes=("$host")
for ((at = 0; at < ${#ports[@]} && ${#ports[@]} > 1; at++)); do nodes[at]=n$at; done
cores=$(nproc)
for program in munged slurmctld slurmd srun; do
    command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin
    command -v "$program" >/dev/null || {
        echo "$program is not installed; run scripts/setup test (or apt-get install -y slurmctld slurmd slurm-client munge)" >&2
        exit 98
    }
done

mkdir -p "$folder/state" "${nodes[@]/#/$folder/tmp.}"
cat >"$folder/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PropagateResourceLimits=NONE
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
TmpFS=$folder/tmp.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
SlurmdParameters=config_overrides
$(for at in "${!nodes[@]}"; do
    echo "NodeName=${nodes[at]} NodeHostname=${nodes[at]} NodeAddr=127.0.0.1 Port=${ports[at]} CPUs=$cores State=UNKNOWN"
done)
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")

daemons=()
end() {
    # One that has ended already is nobody's loss.
    kill "${daemons[@]}" 2>/dev/null || true
    # slurmd 22.05 sometimes waits for ever for its own threads.
    for ((tries = 0; tries < 50; tries++)); do
        [ -n "$(jobs -pr)" ] || break
        sleep 0.2
    done
    kill -9 "${daemons[@]}" 2>/dev/null || true
    wait "${daemons[@]}" 2>/dev/null || true
}
trap end EXIT
munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" --seed-file="$folder/seed" >"$folder/munged.out" 2>&1 &
daemons+=($!)
until [ -S "$folder/munge.socket" ]; do sleep 0.1; done
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out" 2>&1 &
daemons+=($!)
for node in "${nodes[@]}"; do
    unshare --uts sh -c 'hostname "$0" && exec slurmd -D -f "$SLURM_CONF" -N "$0"' "$node" >"$folder/slurmd.$node.out" 2>&1 &
    daemons+=($!)
done
for ((tries = 0; tries < 150; tries++)); do
    [ "$(sinfo --noheader -o %T 2>/dev/null)" != idle ] || break
    sleep 0.2
done
if [ "$(sinfo --noheader -o %T)" != idle ]; then
    tail -n 5 "$folder"/slurm*.log >&2
    echo "Slurm's node does not become idle" >&2
    exit 98
fi
"$@"
