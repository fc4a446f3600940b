#!/bin/sh
# `lastprivate` with `schedule(dynamic, 3)` sometimes leaves the variable as it was, with clang 16.
#
# Version: clang-16 and libomp 1:16.0.6-15~deb12u1 of Debian 12, x86-64, on Linux, two processors.
# Input: 5,000 loops `#pragma omp parallel for lastprivate(last) schedule(dynamic, 3)` of 1000 iterations, of which
# each assigns its number, by four threads, compiled without optimisation; up to 20 runs of that.
# What one would guess: 999 after each loop (OpenMP 5.0, section 2.19.4.5), as gcc 12 gives.
# Seen: the variable keeps the value from before the loop in 1 to 4,779 of them; two processors were
# busy with other work. None with `schedule(monotonic : dynamic, 3)`.
# For our users: a chunk is the last one if it ends at the loop's end, whoever runs it (src/frontend/omp/kmp/loops.cpp);
# tests/omp/kmp_program.c has this loop.
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=1:16.0.6-15~deb12u1
apt-get -qq download clang-16=$version libclang-common-16-dev=$version libclang-cpp16=$version libllvm16=$version \
  libomp5-16=$version libomp-16-dev=$version libedit2 libz3-4 libbsd0 libmd0 libxml2 libicu72 2>/dev/null || exit 77
for package in ./*.deb; do dpkg-deb -x "$package" root; done
libraries=$folder/root/usr/lib/llvm-16/lib:$folder/root/usr/lib/x86_64-linux-gnu

cat >last.c <<'C'
#include <stdio.h>
int main(void) {
  int lost = 0;
  for (int round = 0; round < 5000; round++) {
    int last = -1;
#pragma omp parallel for lastprivate(last) schedule(KIND, 3) num_threads(4)
    for (int i = 0; i < 1000; i++) last = i;
    lost += last != 999;
  }
  printf("%d", lost);
}
C
lost() { # KIND RUNS: of the first run that loses any, or of the last one
  LD_LIBRARY_PATH=$libraries root/usr/lib/llvm-16/bin/clang -O0 -fopenmp "-DKIND=$1" -Lroot/usr/lib/llvm-16/lib last.c \
    -o last
  for run in $(seq "$2"); do
    number=$(LD_LIBRARY_PATH=$libraries KMP_WARNINGS=0 timeout 100 ./last)
    [ "$number" = 0 ] || break
  done
  echo "$number"
}
plain=$(lost dynamic 20) monotonic=$(lost monotonic:dynamic 5)
echo "clang 16.0.6: lost in $plain of 5000 loops; with the modifier monotonic in $monotonic"
[ "$plain" -gt 0 ] && [ "$monotonic" = 0 ]
