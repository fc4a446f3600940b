// Sums what it reads, in parallel, and fails if told so. Usage: advised_program [CODE] <NUMBERS
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 1 << 20 };

int main(int argc, char** argv) {
  int code = argc > 1 ? atoi(argv[1]) : 0;
  long rounds = 0;
  if (scanf("%ld", &rounds) != 1) return 3;
  static double numbers[kMost];
  double sum = 0;
#pragma omp parallel for
  for (int i = 0; i < kMost; ++i) numbers[i] = i % 7;
  for (long r = 0; r < rounds; ++r) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < kMost; ++i)
      for (int k = 1; k <= 16; ++k) sum += numbers[i] * (double)(r + k);
  }
  printf("sum %.0f\n", sum);
  return code;
}
