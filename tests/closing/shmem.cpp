#include <shmem.h>

#include "front_end.h"

void begin() { shmem_init(); }

bool works(int round) {
  constexpr int kLongs = 10'000;
  auto* data = static_cast<long*>(shmem_calloc(kLongs, sizeof(long)));
  const int me = shmem_my_pe(), pes = shmem_n_pes();
  for (int i = 0; i < kLongs; ++i) shmem_long_p(&data[i], i + round + me, (me + 1) % pes);
  shmem_barrier_all();
  static int good, all;
  good = 1;
  for (int i = 0; i < kLongs; ++i) good &= data[i] == i + round + (me + pes - 1) % pes ? 1 : 0;
  shmem_int_min_reduce(SHMEM_TEAM_WORLD, &all, &good, 1);
  shmem_free(data);
  return all == 1;
}

void end() { shmem_finalize(); }
