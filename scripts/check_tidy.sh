#!/usr/bin/env bash
# clang-tidy with the rules of .clang-tidy over src without its tests, or over what lies below the paths given.
# Takes minutes.
# Usage: check_tidy.sh [PATH...]
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-tidy >/dev/null; then
  echo "check_tidy: clang-tidy is missing; install it with: sudo apt-get install --no-install-recommends clang-tidy" >&2
  exit 1
fi
# Without the precompiled test header, which is gcc's.
cmake --preset dev -B build/tidy -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
wanted=("${@:-src}")
unwanted='^build/'
[ $# -gt 0 ] || unwanted='^build/|_test\.cpp$'
# Only what the build compiles: clang-tidy knows the flags of nothing else.
mapfile -t sources < <(
  sed -n 's/^ *"file": "\(.*\)".*/\1/p' build/tidy/compile_commands.json | sort -u |
    xargs -d '\n' realpath --relative-to=. | grep -vE "$unwanted"
)
selected=()
for source in "${sources[@]}"; do
  for path in "${wanted[@]}"; do
    case ./$source in "./${path#./}" | "./${path#./}"/* | "${path%/}"/*) selected+=("$source") && break ;; esac
  done
done
[ ${#selected[@]} -gt 0 ] || { echo "check_tidy: no compiled source below: ${wanted[*]}" >&2 && exit 2; }
printf '%s\0' "${selected[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p build/tidy --quiet 2>&1 |
  { grep -v -e '^[0-9]* warnings\? generated' -e '^$' || true; }
