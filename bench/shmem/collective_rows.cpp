// What barriers and collectives take, beside bare barriers made of the same memory and memcpy, in
// one run: rows "row=NAME bytes=N ns=T", medians at PE 0. By bench_shmem.py; by hand:
//   terrane run -n 2 terrane_bench_shmem_collective_rows [COLLECTIVE]
#include <sched.h>
#include <shmem.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargest = 4 << 20;
constexpr int kBlocks = 21;

int me, pes;
char *source, *dest;
std::atomic<std::uint64_t>* flags;  // symmetric; a cache line each
std::string_view wanted;

std::atomic<std::uint64_t>& flag_at(int pe, int flag) {
  return *static_cast<std::atomic<std::uint64_t>*>(shmem_ptr(flags + 8 * flag, pe));
}

// Runs body `rounds` times a block; prints the median over the blocks, for one time.
template <typename Body>
void row(const char* name, std::size_t bytes, int rounds, Body body) {
  if (!wanted.empty() && wanted != name) return;
  std::vector<double> blocks;
  body();
  for (int block = 0; block < kBlocks; ++block) {
    shmem_barrier_all();
    auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) body();
    std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    blocks.push_back(took.count() / rounds);
  }
  std::nth_element(blocks.begin(), blocks.begin() + kBlocks / 2, blocks.end());
  if (me == 0) std::printf("row=%s bytes=%zu ns=%.1f\n", name, bytes, blocks[kBlocks / 2]);
}

// Two PEs: each stores to the other's flag and looks at its own.
void bare_pairwise(std::uint64_t& round) {
  ++round;
  flag_at(1 - me, 0).store(round, std::memory_order_release);
  while (flag_at(me, 0).load(std::memory_order_acquire) < round) __builtin_ia32_pause();
}

// All count at PE 0, and look there: by spinning, or by yielding at once.
void bare_counter(std::uint64_t& round, bool yields) {
  ++round;
  std::atomic<std::uint64_t>& count = flag_at(0, 1);
  count.fetch_add(1, std::memory_order_acq_rel);
  std::uint64_t all = round * static_cast<std::uint64_t>(pes);
  while (count.load(std::memory_order_acquire) < all) {
    if (yields) {
      sched_yield();
    } else {
      __builtin_ia32_pause();
    }
  }
}

void bare_rows(int rounds, bool crowded) {
  std::uint64_t pairs = 0, counts = 0;
  if (pes == 2 && !crowded) row("bare-pairwise", 0, rounds, [&] { bare_pairwise(pairs); });
  if (!crowded) row("bare-counter", 0, rounds, [&] { bare_counter(counts, false); });
  row("bare-yielding", 0, rounds, [&] { bare_counter(counts, true); });
}

// By PE 0 alone: the others sleep meanwhile.
void memcpy_row(std::size_t bytes) {
  shmem_barrier_all();
  if (me == 0) {
    std::vector<double> times;
    for (int i = 0; i < 101; ++i) {
      auto begin = Clock::now();
      std::memcpy(dest, source, bytes);
      asm volatile("" ::"r"(dest) : "memory");
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    }
    std::nth_element(times.begin(), times.begin() + 50, times.end());
    std::printf("row=memcpy bytes=%zu ns=%.1f\n", bytes, times[50]);
  } else {
    usleep(20'000);
  }
  shmem_barrier_all();
}

void collective_rows(std::size_t bytes, int rounds) {
  shmem_team_t world = SHMEM_TEAM_WORLD;
  auto* to = reinterpret_cast<long*>(dest);
  auto* from = reinterpret_cast<const long*>(source);
  std::size_t words = bytes / sizeof(long);
  row("broadcast", bytes, rounds, [&] {
    shmem_broadcastmem(world, dest, source, bytes, 0);
    shmem_barrier_all();
  });
  row("reduce", bytes, rounds, [&] {
    shmem_long_sum_reduce(world, to, from, words);
    shmem_barrier_all();
  });
  row("scan", bytes, rounds, [&] {
    shmem_long_sum_inscan(world, to, from, words);
    shmem_barrier_all();
  });
  if (bytes * static_cast<std::size_t>(pes) > kLargest) return;
  row("fcollect", bytes, rounds, [&] {
    shmem_fcollectmem(world, dest, source, bytes);
    shmem_barrier_all();
  });
  row("collect", bytes, rounds, [&] {
    shmem_collectmem(world, dest, source, bytes);
    shmem_barrier_all();
  });
  row("alltoall", bytes, rounds, [&] {
    shmem_alltoallmem(world, dest, source, bytes);
    shmem_barrier_all();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  bool crowded = pes > sysconf(_SC_NPROCESSORS_ONLN);
  int rounds = crowded ? 200 : 5000;
  source = static_cast<char*>(shmem_malloc(kLargest));
  dest = static_cast<char*>(shmem_malloc(kLargest));
  flags = static_cast<std::atomic<std::uint64_t>*>(shmem_calloc(128, 8));
  std::memset(source, 1, kLargest);
  std::memset(dest, 1, kLargest);
  if (wanted.empty()) {
    bare_rows(rounds, crowded);
    memcpy_row(1 << 20);
  }
  row("barrier_all", 0, rounds, [] { shmem_barrier_all(); });
  for (std::size_t bytes : {8, 128, 1 << 10, 8 << 10, 64 << 10, 1 << 20}) {
    collective_rows(bytes, std::max(4, static_cast<int>(rounds * std::min(1.0, 2048.0 / bytes))));
  }
  shmem_finalize();
}
