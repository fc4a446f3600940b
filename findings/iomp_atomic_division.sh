#!/bin/sh
# An atomic division of Intel's OpenMP library is not the division of the processor: 49 / 49 is less than 1.
#
# Versions: libiomp5.so of intel-openmp 2026.2.0 of PyPI, gcc 12.2, x86-64, Linux; libomp 14.0.6 of Debian 12 divides
# as the processor does.
# Input: __kmpc_atomic_float8_div and _float4_div, which Intel's compilers call for `omp atomic` with `x /= y`, for
# 100,000 pairs of integers below 2^53, and x / x for the numbers 1 to 1,999.
# What one would guess: an atomic construct is the same operation as without it, so each quotient is the nearest number,
# as IEEE 754 wants it and as the same compiler's code has it.
# Seen: 27,137 quotients of doubles and 26,982 of floats are the neighbour of the nearest number, and x / x is not 1 for
# 216 of 1,999 numbers. Products are right. x times the rounded 1 / x is not 1 for the same number of them.
# For our users: src/frontend/omp/kmp/atomics.cpp divides, so a program of Intel's compilers may have other last digits
# with Terrane than with its own library; tests/omp/kmp_atomics_program.c compares with LLVM's library.
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment >/dev/null 2>&1 || exit 77
environment/bin/pip -q install intel-openmp==2026.2.0 >/dev/null 2>&1 || exit 77

cat >divide.c <<'C'
#include <stdint.h>
#include <stdio.h>

int __kmpc_global_thread_num(void *);
void __kmpc_atomic_float8_div(void *, int, double *, double);
void __kmpc_atomic_float8_mul(void *, int, double *, double);
void __kmpc_atomic_float4_div(void *, int, float *, float);

static uint64_t state = 1;
static double number(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) + 1;
}

int main(void) {
  int thread = __kmpc_global_thread_num(0), doubles = 0, floats = 0, products = 0, selves = 0;
  for (int i = 0; i < 100000; i++) {
    double x = number(), y = number(), z = x;
    volatile double quotient = x / y, product = x * y;
    __kmpc_atomic_float8_div(0, thread, &z, y);
    doubles += z != quotient;
    z = x;
    __kmpc_atomic_float8_mul(0, thread, &z, y);
    products += z != product;
    float a = (float)x, b = (float)y, c = a;
    volatile float small = a / b;
    __kmpc_atomic_float4_div(0, thread, &c, b);
    floats += c != small;
  }
  for (int i = 1; i < 2000; i++) {
    double x = i;
    __kmpc_atomic_float8_div(0, thread, &x, i);
    selves += x != 1;
  }
  double x = 49;
  __kmpc_atomic_float8_div(0, thread, &x, 49);
  printf("doubles %d floats %d products %d x/x %d 49/49 %.17g\n", doubles, floats, products, selves, x);
  return 0;
}
C
gcc -O1 divide.c -o divide environment/lib/libiomp5.so -Wl,-rpath,"$folder/environment/lib" || exit 77
seen=$(./divide)
echo "$seen"
[ "$seen" = "doubles 27137 floats 26982 products 0 x/x 216 49/49 0.99999999999999989" ]
