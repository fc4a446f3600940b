#!/bin/sh
# `schedule(simd: static, 5)` runs iterations again with clang 16: iteration i of 30 runs i + 1 times.
#
# Version: clang-16 and libomp 1:16.0.6-15~deb12u1 of Debian 12, x86-64; 14.0.6 of Debian 12 does so, too.
# Input: `#pragma omp parallel for simd schedule(simd : static, 5)` over 30 iterations, of which each adds 1 to its own
# element of an array. A team of two threads.
# What one would guess: each iteration runs once, as with `schedule(static, 5)`; the modifier says only that chunks are
# multiples of the vector's length (OpenMP 5.0, section 2.9.2). gcc 12 does that.
# Seen: element i is i + 1. With one thread it is right. That would follow if the library gave each thread one block and
# a stride of 1, and the compiler's code went on from chunk to chunk by that stride; this was not looked up.
# For our users: the function that gives the bounds gives a stride behind the loop's end
# (src/frontend/omp/kmp/loops.cpp), and tests/omp/kmp_program.c has such loops.
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

cat >loop.c <<'C'
#include <stdio.h>
static int runs[30];
int main(void) {
#pragma omp parallel for simd schedule(simd : static, 5) num_threads(2)
  for (int i = 0; i < 30; i++) runs[i]++;
  for (int i = 0; i < 30; i++) printf(" %d", runs[i]);
  puts("");
}
C
LD_LIBRARY_PATH=$libraries root/usr/lib/llvm-16/bin/clang -O1 -fopenmp -Lroot/usr/lib/llvm-16/lib loop.c -o loop
seen=$(LD_LIBRARY_PATH=$libraries KMP_WARNINGS=0 ./loop)
echo "clang 16.0.6, times that each iteration ran:$seen"
expected=
for i in $(seq 30); do expected="$expected $i"; done
[ "$seen" = "$expected" ]
