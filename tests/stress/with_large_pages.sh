#!/usr/bin/env bash
# Runs a command while the machine's setting for large pages of shared memory is another one. The setting is restored in
# any case. Two of these wait for each other. The exit code is the command's, or 77 with a reason.
# Usage: with_large_pages.sh SETTING COMMAND [ARGUMENTS]
set -u
switch=/sys/kernel/mm/transparent_hugepage/shmem_enabled
setting=$1
shift

skip() {
  echo "skipped: $1"
  exit 77
}

[[ -e $switch ]] || skip "this kernel has no large pages of shared memory"
[[ -w $switch ]] || skip "only root changes $switch, and not in every container"
exec 9>/tmp/terrane-shmem-enabled.lock
flock 9
before=$(sed 's/.*\[\(.*\)\].*/\1/' $switch)
restore() { echo "$before" >$switch; }
trap restore EXIT
trap 'exit 143' HUP INT TERM
echo "$setting" 2>/dev/null >$switch || skip "$switch takes no \"$setting\""
"$@" 9>&- &
wait $!
