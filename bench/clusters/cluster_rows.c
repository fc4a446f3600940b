/* What a barrier of all nodes costs, a lock that some nodes use alone, and reads of another node's
 * pages: bench_clusters.py.
 *
 * Usage: terrane_bench_cluster_rows barrier ROUNDS | lock ROUNDS FIRST | read ROUNDS READER HOME |
 *        bulk MEGABYTES READER HOME
 * lock: the nodes from FIRST on take lock 0 one after the other, ROUNDS times each.
 * read: READER reads pages whose home is HOME, one at a time in no order, and 64 at once, and
 * writes 8 bytes of it.
 * bulk: READER reads so many MiB of HOME's pages. */
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

#define PAGE 4096L
#define RUN 64L

/* Nanoseconds of a touch of so many pages that are not here; they are evicted before. */
static uint64_t touch(char* at, long pages) {
  size_t bytes = (size_t)(pages * PAGE);
  check(terrane_evict(at, bytes), "evict");
  uint64_t start = now_ns();
  if (pages == 1) {
    (void)*(volatile char*)at;
  } else {
    check(terrane_touch(at, bytes, TERRANE_READ), "touch");
  }
  return now_ns() - start;
}

static int compare(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static double median_us(uint64_t* times, long count) {
  qsort(times, (size_t)count, sizeof *times, compare);
  return (double)times[count / 2] / 1e3;
}

static void reads(long rounds, int reader, int home) {
  terrane_alloc_options options = {0};
  options.homes = TERRANE_HOMES_EXPLICIT;
  options.home = (uint32_t)home;
  long pages = 64 * RUN;
  char* region = terrane_alloc_all((size_t)(pages * PAGE), &options);
  if (region == NULL) check(-1, "alloc");
  if (terrane_node() == home) memset(region, 1, (size_t)(pages * PAGE));
  check(terrane_barrier(), "barrier");
  if (terrane_node() == reader) {
    uint64_t* times = calloc((size_t)rounds, sizeof *times);
    for (long round = 0; round < rounds; round++)
      times[round] = touch(region + (round * 1789 % pages) * PAGE, 1);
    double page_us = median_us(times, rounds);
    for (long round = 0; round < rounds; round++) {
      uint64_t start = now_ns();
      check(terrane_atomic_store(region, 8, (uint64_t)round), "atomic_store");
      times[round] = now_ns() - start;
    }
    double write_us = median_us(times, rounds);
    for (long round = 0; round < rounds; round++)
      times[round] = touch(region + round % 64 * RUN * PAGE, RUN);
    printf("row=read rounds=%ld read_us=%.1f write_us=%.1f pages_us=%.1f\n", rounds, page_us,
           write_us, median_us(times, rounds));
    free(times);
  }
  check(terrane_barrier(), "barrier");
}

/* READER fetches `bytes` of HOME's pages in pieces of 16 MiB. */
static void bulk(long megabytes, int reader, int home) {
  terrane_alloc_options options = {0};
  options.homes = TERRANE_HOMES_EXPLICIT;
  options.home = (uint32_t)home;
  size_t piece = (size_t)16 << 20;
  char* region = terrane_alloc_all(piece, &options);
  if (region == NULL) check(-1, "alloc");
  if (terrane_node() == home) memset(region, 1, piece);
  check(terrane_barrier(), "barrier");
  if (terrane_node() == reader) {
    uint64_t taken = 0;
    for (long done = 0; done < megabytes; done += 16) taken += touch(region, (long)piece / PAGE);
    printf("row=bulk gbs=%.3f\n", (double)megabytes * 1048576 / (double)taken);
  }
  check(terrane_barrier(), "barrier");
}

int main(int argc, char** argv) {
  long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
  int is_lock = argc > 3 && strcmp(argv[1], "lock") == 0;
  int is_barrier = argc > 2 && strcmp(argv[1], "barrier") == 0;
  int is_read = argc > 4 && strcmp(argv[1], "read") == 0;
  int is_bulk = argc > 4 && strcmp(argv[1], "bulk") == 0;
  if (rounds < 1 || !(is_lock || is_barrier || is_read || is_bulk)) {
    fprintf(stderr,
            "usage: %s barrier ROUNDS | lock ROUNDS FIRST | read ROUNDS READER HOME | "
            "bulk MEGABYTES READER HOME\n",
            argv[0]);
    return 2;
  }
  check(terrane_init(), "init");
  if (is_barrier) barriers(rounds);
  if (is_read) reads(rounds, atoi(argv[3]), atoi(argv[4]));
  if (is_bulk) bulk(rounds, atoi(argv[3]), atoi(argv[4]));
  if (is_lock) locks(rounds, (int)strtol(argv[3], NULL, 10));
  check(terrane_finalize(), "finalize");
  return 0;
}
