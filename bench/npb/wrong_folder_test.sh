#!/bin/bash
# ./run bench npb with folders that hold no NPB: one line each, exit code 1, and nothing is left there.
# Usage: wrong_folder_test.sh BENCH_NPB
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/empty" "$folder/mpi_alone/NPB3.4-MPI/sys" "$folder/no_sources/NPB3.3-OMP"
touch "$folder/file" "$folder/mpi_alone/NPB3.4-MPI/sys/make.common"

for wrong in empty mpi_alone no_sources file nowhere; do
  before=$(find "$folder" | sort)
  status=0
  said=$(python3 -B "$1" --npb "$folder/$wrong" 2>&1) || status=$?
  expected="bench: $folder/$wrong has no folder NPB3.3-OMP or NPB3.4-OMP with NPB's sources; give the folder that"
  if [ $status -ne 1 ] || [[ "$said" != "$expected"* ]] || [ "$(wc -l <<<"$said")" -ne 1 ]; then
    echo "$wrong: status $status: $said" >&2
    exit 1
  fi
  [ "$before" = "$(find "$folder" | sort)" ] || { echo "$wrong: the folder has changed" >&2; exit 1; }
done
