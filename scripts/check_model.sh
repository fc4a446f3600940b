#!/bin/bash
# Explores the Spin model of the page protocol (docs/design/hlrc_model.md): the protocol as it is must show no
# error in any state, and each planted error must be found.
#   scripts/check_model.sh            all of it: minutes, 4 GB of memory
#   scripts/check_model.sh --quick    one instance and three planted errors, under half a minute
# Ends with 77 (a skipped test) where spin or a C compiler is missing.
set -euo pipefail

model=$(cd "$(dirname "$0")/.." && pwd)/docs/design/model/hlrc.pml
for tool in spin gcc; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool here (Debian: apt install $tool)"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0

# explore OPTIMISATION DEFINITION...: prints the explorer's lines that matter
explore() {
  local optimise=$1
  shift
  spin -a "$@" "$model" > spin.txt || { cat spin.txt >&2; return 1; }
  gcc "$optimise" -w -DCOLLAPSE -DSAFETY -DVECTORSZ=1024 -DMEMLIM=6000 -o pan pan.c
  ./pan -m10000 -w22 > pan.txt || true
}

# no_error DEFINITION...
no_error() {
  explore -O2 "$@"
  local states
  states=$(awk '/states, stored/ { print $1 }' pan.txt)
  if grep -q 'errors: 0' pan.txt && ! grep -qE 'not completed|max search depth too small' pan.txt; then
    echo "no error in $states states: ${*:-the defaults}"
  else
    echo "FAILED: ${*:-the defaults}"
    cat pan.txt
    failed=1
  fi
}

# found ERROR DEFINITION...
found() {
  local error=$1
  shift
  explore -O1 -D"$error" "$@"
  if grep -q '^pan:1: assertion violated' pan.txt; then
    echo "found: $error $*"
  else
    echo "FAILED: not found: $error $*"
    failed=1
  fi
}

if [ "${1:-}" = --quick ]; then
  no_error -DROUNDS1=1
  found KEEP_LEASE
  found FLUSH_AFTER_GRANT
  found TWIN_FROM_HOME
  exit $failed
fi

no_error
no_error -DPAGES=2 -DROUNDS1=1
no_error -DSIBLINGS0=1 -DROUNDS0=1
no_error -DSIBLINGS1=1 -DROUNDS0=1 -DROUNDS1=1
no_error -DNODES=3 -DROUNDS0=1 -DROUNDS1=1
found KEEP_LEASE
found FLUSH_AFTER_GRANT
found TWIN_FROM_HOME
found FLUSH_WHOLE_BLOCK
found KEEP_TRACKED_WHEN_WRITTEN
found TWIN_COPIED_APART -DSIBLINGS1=1
found DIFF_BEFORE_ZAP -DSIBLINGS1=1 -DROUNDS0=1 -DROUNDS1=1
found LATE_CACHED_MARK -DSIBLINGS1=1 -DROUNDS1=1
found PUBLISH_BEFORE_PROTECT -DSIBLINGS0=1 -DROUNDS0=1 -DBYTES=3 -DMANAGER1=0
exit $failed
