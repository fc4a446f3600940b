#!/bin/bash
# ./run on machines where packages are missing: one line installs them all; help and mistakes build nothing.
# Usage: run_test.sh SOURCE_FOLDER
set -eu
cd "$1"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}
expect() { # STATUS TEXT COMMAND...
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$folder/said" 2>&1 || status=$?
  [ $status -eq "$wanted" ] || fail "$* ended with status $status: $(cat "$folder/said")"
  grep -qF -e "$text" "$folder/said" || fail "$* said: $(cat "$folder/said"); not: $text"
}
expect_not() { # TEXT: in what was said last
  ! grep -qF -e "$1" "$folder/said" || fail "it said: $(cat "$folder/said")"
}

# A machine with these commands alone, a user who is not root, and these fakes, which fail.
machine() { # NAME FAKES...
  local tool
  mkdir -p "$folder/$1"
  for tool in bash env dirname readlink sed awk sort tr grep cat nproc; do
    ln -s "$(command -v $tool)" "$folder/$1/$tool"
  done
  printf '#!/bin/sh\necho 1000\n' >"$folder/$1/id"
  for tool in "${@:2}"; do printf '#!/bin/sh\nexit 1\n' >"$folder/$1/$tool"; done
  chmod +x "$folder/$1"/*
}
machine debian dpkg dpkg-query
machine fedora rpm dnf
machine arch pacman
machine other

for command in build demo test bench sim package everywhere shell lint format; do
  expect 0 "Usage: ./run $command" env PATH="$folder/other" ./run $command --help
  expect 0 "Usage: ./run $command" env PATH="$folder/other" ./run help $command
done
expect 0 "Usage: ./run COMMAND" env PATH="$folder/other" ./run
expect 2 "no command 'biuld'; see ./run help" ./run biuld
expect 2 "build takes no arguments" ./run build all
for nodes in 0 -1 x 99999; do expect 2 "is no number of nodes" ./run demo -n $nodes; done
expect 2 "no preset 'fast'" ./run test --preset fast

expect 1 "sudo apt-get install --no-install-recommends build-essential cmake" env PATH="$folder/debian" ./run build
for package in libgtest-dev gfortran clang-format libpng-dev ccache; do expect_not $package; done
expect 1 "libpng-dev" env PATH="$folder/debian" ./run demo
for package in libgtest-dev gfortran clang-format; do expect_not $package; done
expect 1 "libgtest-dev" env PATH="$folder/debian" ./run test
expect 1 "sudo dnf install cli11-devel cmake fmt-devel gcc-c++" env PATH="$folder/fedora" ./run build
expect 1 "sudo pacman -S --needed base-devel cli11 cmake fmt" env PATH="$folder/arch" ./run build
# A package that Terrane can be built without keeps nobody from building.
machine nearly dpkg
printf '#!/bin/sh\n[ "${4:-$3}" = scdoc ] || echo "x86 installed"\n' >"$folder/nearly/dpkg-query"
printf '#!/bin/sh\necho x86\n' >"$folder/nearly/dpkg"
chmod +x "$folder/nearly"/dpkg*
expect 0 "optional packages are missing; to install them: sudo apt-get install --no-install-recommends scdoc" \
  env PATH="$folder/nearly" bash -c '. scripts/packages.sh; need_packages build'
expect 1 "these commands are missing: c++ cmake ninja pkg-config" env PATH="$folder/other" ./run build
