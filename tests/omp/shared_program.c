// Regions whose threads share a page, or do not. Usage: shared_program counters | padded
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { kMost = 8, kRounds = 2000, kPage = 4096 };

_Alignas(kPage) int counters[kMost];
_Alignas(kPage) struct { _Alignas(kPage) int value; } padded[kMost];

int main(int argc, char** argv) {
  int is_padded = argc > 1 && strcmp(argv[1], "padded") == 0;
  for (int round = 0; round < kRounds; ++round) {
#pragma omp parallel
    {
      int id = omp_get_thread_num();
      if (is_padded) {
        ++padded[id].value;
      } else {
        ++counters[id];
      }
    }
  }
  int last = omp_get_max_threads() - 1;
  int good = (is_padded ? padded[last].value : counters[last]) == kRounds;
  puts(good ? "good" : "bad");
  return !good;
}
