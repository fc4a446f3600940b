/* A region in which the last thread counts in a variable of main's frame by atomic operations,
 * while thread 0 stores to its own frame all the time. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { kCounts = 400 };

__attribute__((noinline)) static double store_for(double seconds) {
  volatile double stored[8] = {0};
  double begin = omp_get_wtime();
  for (int i = 0; omp_get_wtime() - begin < seconds; i = (i + 1) % 8) stored[i] += 1;
  return stored[0];
}

int main(void) {
  int count = 0;
  double stored = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) stored = store_for(0.1);
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      for (int i = 0; i < kCounts; ++i) {
#pragma omp atomic
        ++count;
        usleep(50);
      }
    }
  }
  int good = count == kCounts && stored > 0;
  puts(good ? "good" : "bad");
  return !good;
}
