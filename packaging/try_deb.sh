#!/usr/bin/env bash
# Installs Debian's packages in a fresh root of a suite, runs programs of the README, upgrades them (alone) and purges them.
# Usage: try_deb.sh SUITE [alone|openmpi-first|openmpi-later]...     (as root; after in_root.sh SUITE ./run package deb)
#        DEBS=FOLDER try_deb.sh ...       packages of another folder of this checkout's build/
# The root is one of debootstrap alone, below build/roots/fresh, and its changes are thrown away. Ends with 1 at the first thing that is not as it must be.
set -euo pipefail
checkout=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)

fail() {
  echo "try_deb: $*" >&2
  exit 1
}

says() { # TEXT COMMAND...
  local text=$1 said
  shift
  echo "+ $*"
  said=$("$@" 2>&1) || fail "$* failed: $said"
  grep -qF -e "$text" <<<"$said" || fail "$* said: $said; not: $text"
}

apt_get() { DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >>"$work/apt.log" 2>&1 || fail "apt-get $* failed: $(tail -n 20 "$work/apt.log")"; }

# Programs by each way of the README. Two hosts are namespaces.
programs() {
  local doc=/usr/share/doc/terrane/examples
  # shellcheck disable=SC2046
  cc $doc/counter.c -o counter $(pkg-config --cflags --libs terrane)
  says "4 nodes counted to 4000: right" terrane run -n 4 ./counter
  says "2 nodes counted to 2000: right" terrane hosts -n 2 terrane run -H h0,h1 ./counter
  terranecc $doc/counter.c -o counter2
  says "3 nodes counted to 3000: right" terrane run -n 3 ./counter2
  says "nodes" terrane run -n 2 /usr/lib/*/terrane/examples/counter
  cmake -S $doc/hello_cmake -B hello_cmake >cmake.log && cmake --build hello_cmake >>cmake.log || fail "$(cat cmake.log)"
  terrane run -n 2 hello_cmake/hello || fail "the program that CMake built does not run"
  says "Debian package (/usr)" terrane doctor
  man -w terrane-run >/dev/null 2>&1 || ls /usr/share/man/man1/terrane-run.1.gz >/dev/null
}

# What needs compilers of threads, OpenMP and OpenSHMEM.
more_programs() {
  c++ -O2 -pthread "$checkout/examples/threads/kmeans.cpp" -o kmeans
  says "" terrane threads -n 2 ./kmeans 4 20000
  says "" terrane hosts -n 2 terrane threads -H h0,h1 ./kmeans 4 20000
  printf '%s\n' '#include <stdio.h>' 'int main(void) {' '  long sum = 0;' '#pragma omp parallel for reduction(+ : sum)' \
    '  for (long i = 0; i < 1000; i++) sum += i;' '  printf("sum %ld\n", sum);' '}' >sum.c
  terrane-gcc -O2 sum.c -o sum
  says "sum 499500" terrane omp -n 2 ./sum
  says "sum 499500" ./sum
  oshcc -O2 /usr/share/doc/terrane/examples/shmem/ring.c -o ring
  says "" oshrun -np 4 ./ring
  says "" terrane hosts -n 2 oshrun -H h0,h1 ./ring
  oshfort /usr/share/doc/terrane/examples/shmem/heat.f90 -o heat_f
  says "" oshrun -np 2 ./heat_f 60 20
}

# The same packages with the next number.
make_newer() {
  local package
  mkdir newer
  for package in "$checkout/$DEBS"/*.deb; do
    dpkg-deb -R "$package" tree
    sed -i -E '/^(Version|Depends|Recommends):/s/([0-9.]+-)1\b/\12/g' tree/DEBIAN/control
    dpkg-deb -b tree newer >/dev/null
    rm -r tree
  done
}

# Jobs that run while packages change, or go, end well; also a child process that is started afterwards.
jobs_survive() { # COMMAND...
  local one two looks=0
  echo "+ $* while jobs run"
  rm -f started1 started2 go
  terrane threads -n 2 ./long_job started1 go >one.txt 2>&1 &
  one=$!
  terrane hosts -n 2 terrane threads -H h0,h1 "$work/long_job" started2 go >two.txt 2>&1 &
  two=$!
  until { [ -e started1 ] && [ -e started2 ]; } || ! kill -0 $one $two 2>/dev/null || [ $((looks += 1)) -gt 600 ]; do
    sleep 0.1
  done
  "$@"
  touch go
  wait $one && wait $two || fail "a job ends badly after $*: $(cat one.txt two.txt)"
  says "sum 8000, child 3" cat one.txt
  says "sum 8000, child 3" cat two.txt
}

upgrade_and_purge_while_jobs_run() {
  make_newer
  cc -O2 -pthread "$checkout/packaging/long_job.c" -o long_job
  jobs_survive apt_get install ./newer/*.deb
  says "-2" dpkg-query -W terrane
  says "4 nodes counted to 4000: right" terrane run -n 4 ./counter
  jobs_survive apt_get purge 'libterrane*' 'terrane*'
}

openmpi_can_be_chosen() {
  says "Terrane" oshcc --version
  says "" update-alternatives --set oshcc /usr/bin/oshcc.openmpi
  says "openmpi" oshcc --showme
  says "" update-alternatives --set oshcc /usr/bin/oshcc.terrane
  says "Terrane" oshcc --version
}

nothing_is_left() { # WHETHER-OPENMPI
  local left
  left=$(find / -xdev \( -path "$checkout" -o -path "$work" -o -path /proc -o -path /var/lib/apt \) -prune -o \
    \( -name '*terrane*' -o -name '*.openmpi' -path '/usr/bin/osh*' -o -path '/etc/alternatives/osh*' \) -print)
  [ -z "$left" ] || fail "purge leaves: $left"
  [ -z "$(dpkg-divert --list | grep terrane || true)" ] || fail "purge leaves diversions: $(dpkg-divert --list)"
  [ "$1" = alone ] || says "opal_wrapper" readlink /usr/bin/oshcc
  [ "$1" != alone ] || [ ! -e /usr/bin/oshcc ] || fail "purge leaves /usr/bin/oshcc"
}

# In the root.
inside() { # WAY
  work=$(mktemp -d)
  cd "$work"
  apt_get update
  apt_get install --no-install-recommends gcc g++ gfortran make cmake pkg-config
  [ "$1" != openmpi-first ] || apt_get install --no-install-recommends openmpi-bin
  apt_get install "$checkout/$DEBS"/*.deb
  [ "$1" != openmpi-later ] || apt_get install --no-install-recommends openmpi-bin
  programs
  more_programs
  [ "$1" = alone ] || openmpi_can_be_chosen
  if [ "$1" = alone ]; then
    upgrade_and_purge_while_jobs_run
  else
    apt_get purge 'libterrane*' 'terrane*'
  fi
  nothing_is_left "$1"
  echo "try_deb: $1: all right"
}

if [ "${1:-}" = --inside ]; then
  inside "$2"
  exit
fi
[ $# -ge 1 ] || fail "usage: try_deb.sh SUITE [alone|openmpi-first|openmpi-later]..."
suite=$1 && shift
[ $# -gt 0 ] || set -- alone openmpi-first openmpi-later
export TERRANE_ROOTS=$checkout/build/roots/fresh
for way; do
  echo "== $suite, $way"
  "$checkout/scripts/in_root.sh" --throwaway "$suite" \
    env DEBS="${DEBS:-build/packages/deb}" "$checkout/packaging/try_deb.sh" --inside "$way"
done
