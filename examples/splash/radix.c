/* Radix sort of whole numbers (Blelloch et al., 1991), least significant digit first.
 *
 * Each worker owns consecutive keys. For each digit it counts its keys (a histogram), finds from
 * all histograms where its keys of each digit begin, and stores them there: writes to any place of
 * the other array, in no order. That is what makes this kernel hard for memory that is shared page
 * by page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/anl.h>

#include "kernel.h"

MAIN_ENV;

enum { kSeed = 2 };

static struct {
  long workers;
  long keys;
  long radix;
  long greatest;  /* keys are below it */
  uint32_t* from; /* the keys, sorted by the digits before */
  uint32_t* to;
  uint32_t* counts; /* of each worker, a row of `stride` numbers */
  long stride;
} sort = {1, 1 << 18, 1024, 1 << 19, NULL, NULL, NULL, 0};

static struct shared {
  LOCKDEC(lock);
  BARDEC(barrier);
  long next_worker;
  unsigned long begin;
  unsigned long end;
} * shared;

static uint32_t input(long index) {
  return (uint32_t)(kernel_random_bits(kSeed, (uint64_t)index) % (uint64_t)sort.greatest);
}

static void count_own(const uint32_t* from, struct kernel_share own, int shift, uint32_t* counts) {
  const uint32_t mask = (uint32_t)sort.radix - 1;
  memset(counts, 0, (size_t)sort.radix * sizeof *counts);
  for (long i = own.first; i < own.end; i++) counts[from[i] >> shift & mask]++;
}

/* places[digit]: where this worker's keys with the digit begin. */
static void find_places(uint32_t* places, long me) {
  uint32_t before = 0;
  for (long digit = 0; digit < sort.radix; digit++) {
    for (long worker = 0; worker < sort.workers; worker++) {
      if (worker == me) places[digit] = before;
      before += sort.counts[worker * sort.stride + digit];
    }
  }
}

static void sort_digit(const uint32_t* from, uint32_t* to, long me, int shift, uint32_t* places) {
  const struct kernel_share own = kernel_share_of(sort.keys, me, sort.workers);
  const uint32_t mask = (uint32_t)sort.radix - 1;
  count_own(from, own, shift, &sort.counts[me * sort.stride]);
  BARRIER(shared->barrier, sort.workers);
  find_places(places, me);
  for (long i = own.first; i < own.end; i++) to[places[from[i] >> shift & mask]++] = from[i];
  BARRIER(shared->barrier, sort.workers);
}

static int digits(void) {
  int count = 1;
  for (long reach = sort.radix; reach < sort.greatest; reach *= sort.radix) count++;
  return count;
}

static void worker(void) {
  LOCK(shared->lock);
  const long me = shared->next_worker++;
  UNLOCK(shared->lock);
  const struct kernel_share own = kernel_share_of(sort.keys, me, sort.workers);
  const int bits = __builtin_ctzl((unsigned long)sort.radix);
  uint32_t* places = (uint32_t*)malloc((size_t)sort.radix * sizeof *places);
  if (places == NULL) kernel_fail("no memory for %ld counts", sort.radix);
  for (long i = own.first; i < own.end; i++) {
    sort.from[i] = input(i);
    sort.to[i] = 0;
  }
  BARRIER(shared->barrier, sort.workers);
  if (me == 0) CLOCK(shared->begin);
  for (int digit = 0; digit < digits(); digit++) {
    uint32_t* from = digit % 2 == 0 ? sort.from : sort.to;
    uint32_t* to = digit % 2 == 0 ? sort.to : sort.from;
    sort_digit(from, to, me, digit * bits, places);
  }
  if (me == 0) CLOCK(shared->end);
  free(places);
}

int main(int argc, char** argv) {
  const struct kernel_option options[] = {
      {'p', "processors", &sort.workers, 1, 1024},
      {'n', "keys", &sort.keys, 1, 1L << 31},
      {'r', "radix, a power of 2", &sort.radix, 2, 1 << 20},
      {'m', "keys are below", &sort.greatest, 1, 1L << 32},
      {0, NULL, NULL, 0, 0},
  };
  MAIN_INITENV(, 80000000);
  kernel_options(argc, argv, "radix sort of whole numbers", options);
  if ((sort.radix & (sort.radix - 1)) != 0)
    kernel_fail("-r %ld: this is no power of 2", sort.radix);

  shared = (struct shared*)kernel_allocate(1, sizeof *shared);
  shared->next_worker = 0;
  LOCKINIT(shared->lock);
  BARINIT(shared->barrier, sort.workers);
  sort.stride = (sort.radix + 1023) / 1024 * 1024; /* whole pages */
  sort.from = (uint32_t*)kernel_allocate((size_t)sort.keys, sizeof(uint32_t));
  sort.to = (uint32_t*)kernel_allocate((size_t)sort.keys, sizeof(uint32_t));
  sort.counts = (uint32_t*)kernel_allocate((size_t)(sort.workers * sort.stride), sizeof(uint32_t));

  CREATE(worker, sort.workers);
  WAIT_FOR_END(sort.workers);

  /* The same keys, in order: the sum of their hashes is that of the input. */
  const uint32_t* sorted = digits() % 2 == 0 ? sort.from : sort.to;
  long misplaced = 0;
  uint64_t found = 0;
  uint64_t expected = 0;
  for (long i = 0; i < sort.keys; i++) {
    if (i > 0 && sorted[i - 1] > sorted[i]) misplaced++;
    found += kernel_random_bits(0, sorted[i]);
    expected += kernel_random_bits(0, input(i));
  }
  kernel_report(shared->begin, shared->end, misplaced == 0 && found == expected,
                "%ld of %ld keys are out of order, the keys are %s", misplaced, sort.keys,
                found == expected ? "those of the input" : "not those of the input");
  MAIN_END;
}
