#!/usr/bin/env bash
# What takes longer than ./run test may (./run nightly --help). Each part runs though one before it failed.
# Usage: nightly.sh [PART...]   Ends with 1 if a part failed; a part whose needs are missing is skipped with its reason.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. scripts/packages.sh

readonly logs=build/nightly
readonly all=(pages predictions chunks gateways asan-ubsan tsan fuzz arm64 spin)
readonly labels='unit|sim|conformance'

sim() { build/stage/bin/terrane sim --seed today "$@"; }

part() { # NAME
  case $1 in
    pages) sim --protocol hlrc --histories 2000000 && sim --protocol sc --histories 1000000 ;;
    predictions) sim --protocol hlrc --predict random --histories 3000000 ;;
    chunks) sim --protocol mesi_chunk --histories 1000000 && sim --protocol work_stream --histories 1000000 ;;
    gateways) sim --protocol routing --histories 200000 ;;
    asan-ubsan | tsan) ./run test --preset "$1" -L "$labels" ;;
    fuzz) scripts/fuzz.sh 300 ;;
    arm64) scripts/check_arm64.sh ;;
    spin) scripts/check_model.sh ;;
  esac
}

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all[@]}")
for name in "${parts[@]}"; do
  [[ " ${all[*]} " == *" $name "* ]] || {
    echo "nightly: no part '$name': ${all[*]}" >&2
    exit 2
  }
done
need_packages build demo test
mkdir -p "$logs"
./run build >"$logs/build.log" 2>&1 || {
  cat "$logs/build.log" >&2
  exit 1
}

failed=0
rows=()
for name in "${parts[@]}"; do
  SECONDS=0
  echo "== $name"
  part "$name" 2>&1 | tee "$logs/$name.log" | tail -n 5
  status=${PIPESTATUS[0]}
  case $status in
    0) result=passed ;;
    77) result="skipped: $(tail -n 1 "$logs/$name.log")" ;;
    *) result="FAILED ($logs/$name.log)" failed=1 ;;
  esac
  rows+=("$(printf '%-12s %4d min  %s' "$name" $((SECONDS / 60)) "$result")")
done
echo
printf '%s\n' "${rows[@]}"
exit $failed
