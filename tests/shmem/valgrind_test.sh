#!/bin/bash
# OpenSHMEM's programs under valgrind's memcheck, 2 PEs each: nothing is read or written where there is no memory, and
# what nobody wrote decides nothing and leaves no process.
#   valgrind_test.sh TERRANE FOLDER    FOLDER holds shmem_NAME_program
# Ends with 77 (a skipped test) where valgrind is missing.
set -euo pipefail

terrane=$1
folder=$2
command -v valgrind > /dev/null || { echo "skipped: there is no valgrind here (Debian: apt install valgrind)"; exit 77; }
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# under_valgrind NAME MODE. Leaks are AddressSanitizer's: here a search for them would touch every page of the heap.
under_valgrind() {
  echo "$1 $2"
  if ! "$terrane" run -n 2 valgrind --error-exitcode=97 --leak-check=no --log-file="$logs/%p" \
      "$folder/shmem_$1_program" "$2"; then
    cat "$logs"/*
    exit 1
  fi
}

under_valgrind memory blocks
under_valgrind rma types
under_valgrind rma atomics
under_valgrind collective data

# Valgrind has little address space, and warns of each large mapping: heap and static data take small ones there.
if grep -E 'large range .*\(defined\)' "$logs"/*; then
  echo "FAILED: a large mapping under valgrind"
  exit 1
fi

# This program's own static data are large.
under_valgrind statics symmetric
