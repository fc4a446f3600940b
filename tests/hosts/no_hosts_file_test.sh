#!/bin/bash
# Hosts have names on a system without /etc/hosts, as a fresh root of debootstrap is, and leave its /etc as it is.
# Usage: no_hosts_file_test.sh TEST_HOSTS
set -eu
hosts=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -a /etc "$folder/etc" 2>/dev/null || true # what another user may not read is not needed
rm -f "$folder/etc/hosts"

ways=(unshare --mount)
[ "$(id -u)" -eq 0 ] || ways=(unshare --mount --map-root-user)
"${ways[@]}" true 2>/dev/null || { echo "skipped: no namespace of mounts can be made here"; exit 77; }
# shellcheck disable=SC2016
"${ways[@]}" bash -c '
set -eu
mount --make-rprivate /
mount --bind "$1/etc" /etc
[ ! -e /etc/hosts ]
said=$("$2" -n 2 getent hosts h1 2>&1) || { echo "test_hosts: $said"; exit 1; }
[[ $said == "10.77.0.2 "*h1 ]] || { echo "h1 is $said"; exit 1; }
[ ! -e /etc/hosts ] || { echo "an /etc/hosts was left"; exit 1; }
' bash "$folder" "$hosts"
