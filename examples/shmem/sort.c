/* Sorts integers that are spread over all PEs: each PE is to hold one range of values. PEs tell
 * each other by alltoall how many keys they will send and where those go, put them there, and sort
 * what they were given.
 * Usage: oshrun -n 4 sort [--keys N] */
#include "support.h"

/* Keys grouped by the PE whose range they fall into. */
typedef struct {
  uint32_t* keys;
  long* counts; /* a PE each, symmetric */
} Groups;

/* Sums over all PEs that no order changes. */
enum { kKeys, kSum, kSquares, kFacts };

static int pe_of(uint32_t key, int pes) { return (int)((uint64_t)key * (uint64_t)pes >> 32); }

static Groups group_keys(const uint32_t* keys, long count, int pes) {
  Groups groups = {allocate_private((size_t)count, sizeof(uint32_t)),
                   allocate((size_t)pes, sizeof(long))};
  for (long i = 0; i < count; i++) groups.counts[pe_of(keys[i], pes)]++;
  long* next = allocate_private((size_t)pes, sizeof(long));
  for (int pe = 1; pe < pes; pe++) next[pe] = next[pe - 1] + groups.counts[pe - 1];
  for (long i = 0; i < count; i++) groups.keys[next[pe_of(keys[i], pes)]++] = keys[i];
  free(next);
  return groups;
}

/* Sends every group to its PE. Symmetric memory with the keys of this PE, and their number. */
static uint32_t* exchange(const Groups* groups, int pes, long* received) {
  static long total, most; /* symmetric */
  long* arriving = allocate((size_t)pes, sizeof(long));
  long* places = allocate((size_t)pes, sizeof(long));
  long* places_there = allocate((size_t)pes, sizeof(long));

  shmem_long_alltoall(SHMEM_TEAM_WORLD, arriving, groups->counts, 1);
  total = 0;
  for (int pe = 0; pe < pes; pe++) {
    places[pe] = total;
    total += arriving[pe];
  }
  shmem_long_alltoall(SHMEM_TEAM_WORLD, places_there, places, 1);
  shmem_long_max_reduce(SHMEM_TEAM_WORLD, &most, &total, 1);

  uint32_t* keys = allocate(most > 0 ? (size_t)most : 1, sizeof(uint32_t));
  const uint32_t* from = groups->keys;
  for (int pe = 0; pe < pes; pe++) {
    const size_t count = (size_t)groups->counts[pe];
    shmem_uint32_put_nbi(keys + places_there[pe], from, count, pe);
    from += count;
  }
  shmem_barrier_all(); /* completes the puts of all */
  *received = total;
  shmem_free(places_there);
  shmem_free(places);
  shmem_free(arriving);
  return keys;
}

/* By radix, eight bits a pass, the lowest first. */
static void sort_here(uint32_t* keys, long count) {
  uint32_t* other = allocate_private((size_t)count, sizeof(uint32_t));
  for (int shift = 0; shift < 32; shift += 8) {
    long next[257] = {0};
    for (long i = 0; i < count; i++) next[(keys[i] >> shift & 255) + 1]++;
    for (int digit = 1; digit < 256; digit++) next[digit] += next[digit - 1];
    for (long i = 0; i < count; i++) other[next[keys[i] >> shift & 255]++] = keys[i];
    uint32_t* done = other;
    other = keys;
    keys = done;
  }
  free(other); /* after four passes the keys are where they were */
}

static void find_facts(const uint32_t* keys, long count, uint64_t* facts) {
  static uint64_t mine[kFacts]; /* symmetric */
  memset(mine, 0, sizeof mine);
  mine[kKeys] = (uint64_t)count;
  for (long i = 0; i < count; i++) {
    mine[kSum] += keys[i];
    mine[kSquares] += (uint64_t)keys[i] * keys[i];
  }
  shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, facts, mine, kFacts);
}

/* True on all PEs if every PE's keys are in order and within its range. */
static int in_order(const uint32_t* keys, long count, int me, int pes) {
  static int wrong, wrong_anywhere; /* symmetric */
  wrong = 0;
  for (long i = 0; i < count; i++) {
    wrong |= pe_of(keys[i], pes) != me || (i > 0 && keys[i - 1] > keys[i]);
  }
  shmem_int_max_reduce(SHMEM_TEAM_WORLD, &wrong_anywhere, &wrong, 1);
  return !wrong_anywhere;
}

int main(int argc, char** argv) {
  static uint64_t facts_before[kFacts], facts_after[kFacts]; /* symmetric */
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  Option option = {"keys", "keys of each PE", 1, 1000000000, 1000000};
  read_options(argc, argv, "Sorts random integers that are spread over all PEs.", &option, 1);

  uint32_t* keys = allocate_private((size_t)option.value, sizeof(uint32_t));
  uint64_t state = (uint64_t)me * 7919 + 1;
  for (long i = 0; i < option.value; i++) keys[i] = (uint32_t)random_number(&state);
  find_facts(keys, option.value, facts_before);

  shmem_barrier_all();
  const double begin = seconds();
  long count = 0;
  Groups groups = group_keys(keys, option.value, pes);
  uint32_t* sorted = exchange(&groups, pes, &count);
  sort_here(sorted, count);
  shmem_barrier_all();
  const double took = seconds() - begin;

  find_facts(sorted, count, facts_after);
  const int right = in_order(sorted, count, me, pes) &&
                    memcmp(facts_before, facts_after, sizeof facts_before) == 0;
  if (me == 0) {
    printf("%ld keys of each of %d PEs: %.3f s, %.1f million keys a second\n", option.value, pes,
           took, (double)facts_before[kKeys] / took * 1e-6);
    printf(right ? "verified: in order, and no key lost\n" : "the order is wrong\n");
  }
  free(keys);
  free(groups.keys);
  shmem_free(groups.counts);
  shmem_free(sorted);
  shmem_finalize();
  return !right;
}
