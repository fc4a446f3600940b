#!/usr/bin/env bash
# Builds and tries Terrane in the roots of several releases (./run everywhere --help).
# Usage: everywhere.sh [SUITE...]   Ends with 1 if a step failed. A suite whose root cannot be made is a row that says so.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly all=(bookworm trixie sid noble)

# The names of the launcher's tests, as a regular expression of ctest.
launcher_tests() {
  sed -nE 's/^TEST(_F|_P)?\(([A-Za-z]+),.*/\2/p' tests/launcher/*_test.cpp | sort -u | paste -sd '|' | sed 's/.*/^(&)[.]/'
}

# What the root has: compiler, C library and UCX. Run there, after a build, which has installed them.
# shellcheck disable=SC2016
readonly versions='printf "%s | %s | %s\n" "$(gcc -dumpfullversion)" "$(ldd --version | sed -n "1s/.* //p")" \
  "$(dpkg-query -W -f "\${Version}" libucx0 2>/dev/null | sed "s/[-+].*//")"'

# Runs one step in the root and prints its cell: how long it took, or that it failed; of tests their count.
step() { # SUITE STEP COMMAND...
  local suite=$1 log=build/everywhere/$1/$2.log status=0 count
  SECONDS=0
  scripts/in_root.sh "$suite" "${@:3}" >"$log" 2>&1 </dev/null || status=$?
  count=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1 || true)
  if [ $status -eq 0 ]; then
    echo "${count:-$((SECONDS / 60)):$(printf %02d $((SECONDS % 60)))}"
  else
    echo "FAILED${count:+: $count}"
    return 1
  fi
}

row() { # SUITE
  local suite=$1 cells=() failed=0 have
  mkdir -p "build/everywhere/$suite"
  if ! scripts/in_root.sh "$suite" true >"build/everywhere/$suite/root.log" 2>&1 </dev/null; then
    echo "| $suite | no root: $(tail -n 1 "build/everywhere/$suite/root.log" | cut -c 1-80) | | | | | | |"
    return 1
  fi
  # All packages first: a compiler's cache that came later would compile everything anew.
  step "$suite" packages bash -c '. scripts/packages.sh; need_packages build demo test' >/dev/null || failed=1
  [ $failed -ne 0 ] || cells+=("$(step "$suite" build ./run build)") || failed=1
  have=$(scripts/in_root.sh "$suite" sh -c "$versions" 2>/dev/null </dev/null)
  if [ $failed -eq 0 ]; then
    cells+=("$(step "$suite" demo ./run demo)") || failed=1
    cells+=("$(step "$suite" unit ./run test --target terrane_unit_tests -L '^unit$')") || failed=1
    cells+=("$(step "$suite" launcher ./run test --target cluster_test -R "$(launcher_tests)")") || failed=1
  fi
  echo "| $suite | ${have:-? | ? | ?} | ${cells[0]:-no packages} | ${cells[1]:-} | ${cells[2]:-} | ${cells[3]:-} |"
  return $failed
}

suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=("${all[@]}")
failed=0
rows=()
for suite in "${suites[@]}"; do
  echo "== $suite" >&2
  rows+=("$(row "$suite")") || failed=1
done
echo "| suite | gcc | glibc | UCX | build | demo | unit tests | launcher's tests |"
echo "|---|---|---|---|---|---|---|---|"
printf '%s\n' "${rows[@]}"
exit $failed
