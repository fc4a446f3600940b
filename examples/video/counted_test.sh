#!/bin/sh
# What a frame costs between nodes that share no memory: counted, whatever the machine's speed.
# Usage: counted_test.sh VIDEO TERRANE
set -u
video=$1
terrane=$2
frames=300 bytes=307200
log=$(mktemp)
trap 'rm -f "$log"' EXIT
TERRANE_ONE_SIDED=0 timeout 100 "$terrane" run -n 4 "$video" synthetic:640x480:$frames >"$log" 2>&1 ||
  { cat "$log"; exit 1; }
awk -v frames=$frames -v bytes=$bytes '
  /^row=counters/ {
    for (i = 2; i <= NF; ++i) { split($i, part, "="); sum[part[1]] += part[2] }
  }
  END {
    transfers = sum["transfer_bytes"] / frames / bytes
    messages = sum["messages"] / frames
    printf "%.3f transfers and %.2f messages a frame\n", transfers, messages
    # Two messages carry the frame and its result, from and to node 0. Others return credits: one of
    # each kind for each of both where they are not batched.
    exit transfers < 2 || transfers > 2.05 || messages < 2 || messages > 7
  }' "$log"
