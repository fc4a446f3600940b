#!/bin/sh
# Every number of threads, and both ways to initialise, must compute the same bits. Usage: same_checksum.sh jacobi_threads
set -eu
program=$1
checksums=$(for threads in 1 2 3 7; do
  for init in own master; do
    "$program" --size 65 --iterations 21 --threads "$threads" --init "$init" | sed -n 's/.*checksum=//p'
  done
done | sort -u)
count=$(printf '%s\n' "$checksums" | wc -l)
if [ -z "$checksums" ] || [ "$count" -ne 1 ]; then
  echo "the checksums differ:" $checksums
  exit 1
fi
