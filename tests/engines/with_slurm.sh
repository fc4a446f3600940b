#!/bin/bash
# A Slurm cluster of two hosts, n1 and n2, on this machine, for as long as a command runs:
#   with_slurm.sh COMMAND [ARGUMENT...]
# Everything lies in a temporary folder, with a key of its own, and is stopped and removed at the end. Needs munge,
# slurmctld and slurmd (Debian: apt install slurm-wlm munge); ends with 77 (a skipped test) where they are missing.
set -u
PATH=$PATH:/usr/sbin

for tool in munged slurmctld slurmd srun scontrol; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool here (Debian: apt install slurm-wlm munge)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd starts jobs as root only"; exit 77; }

folder=$(mktemp -d /tmp/terrane-slurm-XXXXXX)
chmod 755 "$folder"
daemons=()

command_under_test=

# Of steps whose jobs were cut short: nobody else ends them.
kill_steps() {
  local environment
  for environment in /proc/[0-9]*/environ; do
    [ "$(cat "${environment%environ}comm" 2> /dev/null)" = slurmstepd ] || continue
    grep -qzF "SLURM_CONF=$folder/" "$environment" 2> /dev/null || continue
    environment=${environment%/environ}
    kill -KILL "${environment#/proc/}"
  done
}

stop() {
  local daemon
  [ -z "$command_under_test" ] || kill "$command_under_test" 2> /dev/null
  for daemon in "${daemons[@]}"; do kill "$daemon" 2> /dev/null; done
  for daemon in "${daemons[@]}"; do
    for _ in {1..50}; do kill -0 "$daemon" 2> /dev/null || break; sleep 0.1; done
    kill -KILL "$daemon" 2> /dev/null
  done
  kill_steps
  wait 2> /dev/null
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 143' TERM INT HUP

free_ports() {
  python3 -c 'import socket
holders = [socket.socket() for _ in range(3)]
for holder in holders: holder.bind(("127.0.0.1", 0))
print(*[holder.getsockname()[1] for holder in holders])'
}
read -r control_port port1 port2 <<< "$(free_ports)"

write_configuration() {
  cat > "$folder/slurm.conf" <<END
ClusterName=terrane
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$control_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.%n.log
SlurmdParameters=config_overrides
TmpFS=$folder/tmp.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
MailProg=/bin/true
KillWait=2
ReturnToService=2
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$port1 CPUs=4
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$port2 CPUs=4
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=5 State=UP
END
}

start_munge() {
  mkdir -p "$folder/munge"
  head -c 64 /dev/urandom > "$folder/munge/key"
  chmod 600 "$folder/munge/key"
  munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" > "$folder/munge/out" 2>&1 &
  daemons=($! "${daemons[@]}")
  for _ in {1..100}; do [ -S "$folder/munge/socket" ] && return; sleep 0.05; done
}

start_slurm() {
  mkdir -p "$folder/state" "$folder"/{spool,tmp}.{n1,n2}
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -D -f "$SLURM_CONF" > "$folder/slurmctld.out" 2>&1 &
  daemons=($! "${daemons[@]}")
  for host in n1 n2; do
    slurmd -D -N "$host" -f "$SLURM_CONF" > "$folder/slurmd.$host.out" 2>&1 &
    daemons=($! "${daemons[@]}")
  done
  for _ in {1..200}; do
    [ "$(sinfo --noheader --states=idle --format=%D 2> /dev/null)" = 2 ] && return 0
    sleep 0.1
  done
  echo "with_slurm.sh: the two hosts did not become idle:" >&2
  tail -n 5 "$folder"/*.log "$folder"/*.out "$folder/munge/log" >&2
  return 1
}

write_configuration
start_munge
start_slurm || exit 1
export TERRANE_SLURM_FOLDER=$folder
"$@" <&0 &
command_under_test=$!
wait "$command_under_test"
code=$?
command_under_test=
exit $code
