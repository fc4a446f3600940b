/* What one pair of PEs carries: bench_clusters.py.
 *
 * Usage: terrane_bench_put_rows MEGABYTES, on 2 PEs or more.
 * PE 0 puts so many MiB to the last PE, in pieces of 64 KiB, and prints what it reaches. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 64 * 1024, kPlaces = 64, kWarm = 8 };

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Returns once all of them have come. */
static void put(char* to, const char* from, long pieces) {
  for (long i = 0; i < pieces; i++)
    shmem_putmem(to + i % kPlaces * kBytes, from, kBytes, shmem_n_pes() - 1);
  shmem_quiet();
}

int main(int argc, char** argv) {
  long pieces = argc > 1 ? atol(argv[1]) * 16 : 0;
  if (pieces <= 0) {
    fprintf(stderr, "usage: %s MEGABYTES\n", argv[0]);
    return 2;
  }
  shmem_init();
  char* to = shmem_malloc((size_t)kBytes * kPlaces);
  char* from = malloc(kBytes);
  memset(from, 1, kBytes);
  if (shmem_my_pe() == 0) {
    put(to, from, kWarm);
    double start = now();
    put(to, from, pieces);
    printf("row=put mbs=%.1f\n", (double)pieces * kBytes / (now() - start) / 1e6);
  }
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
