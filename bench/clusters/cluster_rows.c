/* What a barrier of all nodes costs, and a lock that some nodes use alone: bench_clusters.py.
 *
 * Usage: terrane_bench_cluster_rows barrier ROUNDS | lock ROUNDS FIRST
 * lock: the nodes from FIRST on take lock 0 one after the other, ROUNDS times each. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/pages.h>
#include <time.h>

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void check(int status, const char* what) {
  if (status >= 0) return;
  fprintf(stderr, "cluster_rows: %s: %s\n", what, terrane_error());
  _Exit(1);
}

static void barriers(long rounds) {
  check(terrane_barrier(), "barrier");
  uint64_t start = now_ns();
  for (long round = 0; round < rounds; round++) check(terrane_barrier(), "barrier");
  if (terrane_node() == 0)
    printf("row=barrier rounds=%ld ns=%llu\n", rounds,
           (unsigned long long)((now_ns() - start) / (uint64_t)rounds));
}

static void locks(long rounds, int first) {
  check(terrane_barrier(), "barrier");
  if (terrane_node() >= first) {
    uint64_t start = now_ns();
    for (long round = 0; round < rounds; round++) {
      check(terrane_lock(0), "lock");
      check(terrane_unlock(0), "unlock");
    }
    if (terrane_node() == first)
      printf("row=lock rounds=%ld ns=%llu\n", rounds,
             (unsigned long long)((now_ns() - start) / (uint64_t)rounds));
  }
  check(terrane_barrier(), "barrier");
}

int main(int argc, char** argv) {
  long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  int is_lock = argc > 3 && strcmp(argv[1], "lock") == 0;
  int is_barrier = argc > 2 && strcmp(argv[1], "barrier") == 0;
  if (rounds < 1 || !(is_lock || is_barrier)) {
    fprintf(stderr, "usage: %s barrier ROUNDS | lock ROUNDS FIRST\n", argv[0]);
    return 2;
  }
  check(terrane_init(), "init");
  if (is_barrier) barriers(rounds);
  if (is_lock) locks(rounds, (int)strtol(argv[3], NULL, 10));
  check(terrane_finalize(), "finalize");
  return 0;
}
