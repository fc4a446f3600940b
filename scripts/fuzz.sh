#!/usr/bin/env bash
# Fuzzes every parser of bytes that come from others (tests/fuzz) by libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer. What makes a target fail is kept in build/fuzz/findings, what reaches new code in
# build/fuzz/corpus. Needs the packages clang and libclang-rt-14-dev (or later).
# Usage: fuzz.sh [SECONDS [TARGET...]]   SECONDS for each target, default 60; two targets at a time
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
if ! command -v clang++ >/dev/null; then
  echo "fuzz: clang is missing; install it with: sudo apt-get install --no-install-recommends clang libclang-rt-14-dev" >&2
  exit 1
fi
build=build/fuzz
cmake -G Ninja -B "$build" -S . -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTERRANE_FUZZ=ON -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
nice ninja -C "$build" -j2 fuzz_all | tail -1

fuzz_one() {
  local name=$1 corpus=$2/corpus/$1
  mkdir -p "$corpus" "$2/findings" "$2/logs"
  "$2/tests/fuzz/fuzz_$name" --write-seeds "$corpus"
  local status=0
  nice "$2/tests/fuzz/libfuzzer_$name" "$corpus" -max_total_time="$3" -max_len=65536 -timeout=120 -rss_limit_mb=4096 \
    -malloc_limit_mb=1048576 -artifact_prefix="$2/findings/$name-" -print_final_stats=1 >"$2/logs/$name" 2>&1 || status=$?
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$2/logs/$name")
  coverage=$(grep -o 'cov: [0-9]*' "$2/logs/$name" | tail -1)
  if [ $status -eq 0 ]; then
    echo "$name: ${executions:-0} executions, $coverage, nothing found"
  else
    echo "$name: FOUND something (status $status); see $2/logs/$name and $2/findings"
  fi
  return $status
}
export -f fuzz_one
# A hostile length may ask for more memory than there is: that is answered, not a fault. And what AddressSanitizer would
# allow it takes seconds to give back.
export ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256:detect_leaks=1

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/*_fuzz.cpp | sed 's|.*/\(.*\)_fuzz.cpp|\1|')
printf '%s\n' "${targets[@]}" | xargs -P 2 -I{} bash -c 'fuzz_one "$@"' _ {} "$build" "$seconds"
