#!/usr/bin/env bash
# Usage: options_test.sh TERRANE HEAT
# Wrong options end the job with status 2 and one sentence, help with 0.
set -uo pipefail
terrane=$1 heat=$2

expect() { # STATUS LINES TEXT ARGUMENTS...
  local status=$1 lines=$2 text=$3 found
  shift 3
  output=$("$terrane" run -n 2 "$heat" "$@" 2>&1)
  found=$?
  if [ $found -ne "$status" ] || [ "$(wc -l <<<"$output")" -ne "$lines" ] || ! grep -qF -- "$text" <<<"$output"; then
    printf 'heat %s: status %s, printed:\n%s\n' "$*" "$found" "$output"
    exit 1
  fi
}

expect 2 1 "no option '--width'" --width 3
expect 2 1 '--size needs a number from 1' --size 0
expect 2 1 '--size needs a number from 1' --size 12x
expect 2 1 '--steps needs a number' --steps
expect 2 1 'is less than the number of PEs' --size 1
expect 0 4 'Usage: oshrun' --help
