#!/bin/sh
# A loop of gcc that counts down from near 2^64 has no iteration where LLVM's libomp serves it.
#
# Version: libomp5-16 1:16.0.6-15~deb12u1 and gcc 12 of Debian 12, x86-64.
# Input: `#pragma omp for schedule(dynamic)` over `for (unsigned long long i = -2ull; i > -22ull; i -= 2)`, compiled by
# gcc -fopenmp and run with libomp.so.5, whose functions for code of gcc (GOMP_...) it calls; the same loop upwards, and
# one down in `long long`.
# What one would guess: 10 iterations of each, as gcc's own library gives.
# Seen: 0, 10 and 10. A loop down from 10 to 1 has its 10 iterations.
# For our users: src/frontend/omp serves objects of gcc in a program that clang links; tests/omp/kmp_program.c has such
# loops.
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=1:16.0.6-15~deb12u1
apt-get -qq download libomp5-16=$version 2>/dev/null || exit 77
for package in ./*.deb; do dpkg-deb -x "$package" root; done
command -v gcc >/dev/null || exit 77

cat >down.c <<'C'
#include <stdio.h>
int main(void) {
  int down = 0, up = 0, with_sign = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic) reduction(+ : down)
    for (unsigned long long i = -2ull; i > -22ull; i -= 2) down++;
#pragma omp for schedule(dynamic) reduction(+ : up)
    for (unsigned long long i = -22ull; i < -2ull; i += 2) up++;
#pragma omp for schedule(dynamic) reduction(+ : with_sign)
    for (long long i = 10; i > 0; i--) with_sign++;
  }
  printf("%d, %d, %d", down, up, with_sign);
}
C
gcc -O1 -fopenmp -c down.c
gcc down.o -o down root/usr/lib/llvm-16/lib/libomp.so.5
seen=$(LD_LIBRARY_PATH=root/usr/lib/llvm-16/lib ./down)
gcc -fopenmp down.o -o down
own=$(./down)
echo "iterations with libomp 16: $seen; with gcc's library: $own"
[ "$seen" = "0, 10, 10" ] && [ "$own" = "10, 10, 10" ]
