/* A histogram whose bins are spread over all PEs. Every PE draws numbers of its own and counts each
 * in its bin, wherever that is, by an atomic increment.
 * Usage: oshrun -n 4 histogram [--bins N] [--samples N] */
#include "support.h"

/* The sum of two draws: a triangle, fullest in the middle. */
static long draw_bin(uint64_t* state, long bins) {
  const uint64_t half = (uint64_t)bins / 2 + 1;
  const uint64_t sum = random_number(state) % half + random_number(state) % half;
  return (long)(sum % (uint64_t)bins);
}

static uint64_t seed_of(int pe) { return (uint64_t)pe * 1000003 + 17; }

/* Bin b is word b / pes of PE b % pes, so that neighbours are not on one PE. */
static void count_samples(uint64_t* counts, long bins, long samples, int me, int pes) {
  uint64_t state = seed_of(me);
  for (long i = 0; i < samples; i++) {
    const long bin = draw_bin(&state, bins);
    shmem_uint64_atomic_inc(&counts[bin / pes], (int)(bin % pes));
  }
}

/* Counts the samples of all PEs once more, alone. The number of bins that differ. */
static long count_differences(const uint64_t* counts, long bins, long samples, int pes) {
  uint64_t* expected = allocate_private((size_t)bins, sizeof(uint64_t));
  for (int pe = 0; pe < pes; pe++) {
    uint64_t state = seed_of(pe);
    for (long i = 0; i < samples; i++) expected[draw_bin(&state, bins)]++;
  }
  long different = 0;
  for (long bin = 0; bin < bins; bin++) {
    different += shmem_uint64_g(&counts[bin / pes], (int)(bin % pes)) != expected[bin];
  }
  free(expected);
  return different;
}

static void draw_picture(const uint64_t* counts, long bins, int pes) {
  enum { kLines = 8, kColumns = 60 };
  uint64_t lines[kLines] = {0};
  uint64_t most = 1;
  for (long bin = 0; bin < bins; bin++) {
    uint64_t* line = &lines[bin * kLines / bins];
    *line += shmem_uint64_g(&counts[bin / pes], (int)(bin % pes));
    if (*line > most) most = *line;
  }
  for (int i = 0; i < kLines; i++) {
    printf("%12llu ", (unsigned long long)lines[i]);
    for (uint64_t column = 0; column < lines[i] * kColumns / most; column++) putchar('#');
    putchar('\n');
  }
}

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  Option options[] = {{"bins", "bins of the histogram", 1, 1000000000, 4096},
                      {"samples", "numbers that each PE draws", 1, 1000000000, 200000}};
  read_options(argc, argv, "Counts random numbers in bins on all PEs.", options, 2);
  const long bins = options[0].value;
  const long samples = options[1].value;

  uint64_t* counts = allocate((size_t)((bins + pes - 1) / pes), sizeof(uint64_t));
  shmem_barrier_all();
  const double begin = seconds();
  count_samples(counts, bins, samples, me, pes);
  shmem_barrier_all();
  const double took = seconds() - begin;

  long different = 0;
  if (me == 0) {
    draw_picture(counts, bins, pes);
    different = count_differences(counts, bins, samples, pes);
    printf("%ld samples of each of %d PEs in %ld bins: %.1f ns a sample\n", samples, pes, bins,
           took / (double)samples * 1e9);
    if (different > 0) printf("%ld bins are wrong\n", different);
    if (different == 0) printf("verified: all bins are right\n");
  }
  shmem_barrier_all(); /* PE 0 reads the bins of the others until here */
  shmem_free(counts);
  shmem_finalize();
  return different > 0;
}
