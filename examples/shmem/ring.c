/* A token goes round all PEs; each adds its number, and passes it on by a store.
 * Usage: oshrun -n 4 ring [--rounds N] */
#include "support.h"

/* A token's sum travels with the number of the round that it is in, so that the word is new each
 * time: what is stored first is seen first (shmem_fence). */
static long sum;
static long round_here;

int main(int argc, char** argv) {
  shmem_init();
  const int me = shmem_my_pe();
  const int pes = shmem_n_pes();
  const int next = (me + 1) % pes;
  Option rounds = {"rounds", "how often the token goes round", 1, 100000000, 1000};
  read_options(argc, argv, "Passes a token round all PEs.", &rounds, 1);

  shmem_barrier_all();
  const double begin = seconds();
  for (long round = 1; round <= rounds.value; round++) {
    /* PE 0 sends the token off, and has it back at the end of the round. */
    if (me != 0) shmem_long_wait_until(&round_here, SHMEM_CMP_EQ, round);
    shmem_long_p(&sum, sum + me, next);
    shmem_fence();
    shmem_long_p(&round_here, round, next);
    if (me == 0) shmem_long_wait_until(&round_here, SHMEM_CMP_EQ, round);
  }
  const double took = seconds() - begin;

  int wrong = 0;
  if (me == 0) {
    const long expected = rounds.value * pes * (pes - 1) / 2;
    wrong = sum != expected;
    printf("%ld rounds of %d PEs, %.3f us a step; the sum is %ld: %s\n", rounds.value, pes,
           took / (double)(rounds.value * pes) * 1e6, sum, wrong ? "wrong" : "right");
  }
  shmem_finalize();
  return wrong;
}
