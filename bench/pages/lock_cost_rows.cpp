// What locks cost two nodes: one that no other node asks for, by the copies that its node holds;
// and those that both nodes want, with a page of data each. Prints a line of key=value pairs a row.
// Usage: terrane run -n 2 terrane_bench_lock_cost_rows [--times N]
#include <terrane/pages.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "platform/wait.h"

namespace {

using terrane::platform::now_ns;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kApart = 8;  // pages from one copy to the next
constexpr std::uint32_t kPrivate = 7, kFirst = 16;

double ns_each(std::uint64_t from, std::uint64_t times) {
  return static_cast<double>(now_ns() - from) / static_cast<double>(times);
}

// Node 0 holds so many copies of node 1's pages.
bool private_lock(std::uint64_t copies, std::uint64_t times) {
  std::uint64_t pages = copies * kApart + 1;
  auto* bytes = static_cast<volatile char*>(terrane_alloc_all(pages * kPage, nullptr));
  if (bytes == nullptr) return false;
  terrane_barrier();
  for (std::uint64_t page = 0; page < pages && terrane_node() == 1; ++page) bytes[page * kPage] = 1;
  terrane_barrier();
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t copy = 0; copy < copies && terrane_node() == 0; ++copy)
      static_cast<void>(bytes[copy * kApart * kPage]);
    terrane_barrier();
  }
  if (terrane_node() == 0) {
    terrane_lock(kPrivate);
    terrane_unlock(kPrivate);
    std::uint64_t from = now_ns();
    for (std::uint64_t i = 0; i < times; ++i) {
      terrane_lock(kPrivate);
      terrane_unlock(kPrivate);
    }
    std::printf("row=private-lock copies=%llu ns=%.1f\n", static_cast<unsigned long long>(copies),
                ns_each(from, times));
  }
  terrane_barrier();
  return true;
}

// Both nodes take one of the locks at random and change its page. False: a change was lost.
bool contended_locks(std::uint32_t locks, std::uint64_t times) {
  auto* words = static_cast<std::uint64_t*>(terrane_alloc_all(locks * kPage, nullptr));
  if (words == nullptr) return false;
  terrane_barrier();
  auto seed = static_cast<unsigned>(terrane_node() + 1);
  std::uint64_t from = now_ns();
  for (std::uint64_t i = 0; i < times; ++i) {
    auto lock = static_cast<std::uint32_t>(rand_r(&seed)) % locks;
    terrane_lock(kFirst + lock);
    ++words[lock * (kPage / sizeof *words)];
    terrane_unlock(kFirst + lock);
  }
  double each = ns_each(from, times);
  terrane_barrier();
  std::uint64_t sum = 0;
  for (std::uint32_t lock = 0; lock < locks; ++lock) sum += words[lock * (kPage / sizeof *words)];
  if (terrane_node() == 0) std::printf("row=contended-locks locks=%u ns=%.1f\n", locks, each);
  terrane_barrier();
  return sum == times * 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t times = 20000;
  if (argc == 3 && std::strcmp(argv[1], "--times") == 0)
    times = std::strtoull(argv[2], nullptr, 10);
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  bool right = terrane_nodes() == 2;
  // First, since a lock that moves has to look for writes in all that is held.
  for (std::uint32_t locks : {1u, 16u}) right = right && contended_locks(locks, times);
  for (std::uint64_t copies : {0, 64, 1024}) right = right && private_lock(copies, times);
  if (!right) std::fprintf(stderr, "terrane_bench_lock_cost_rows: wrong (%s)\n", terrane_error());
  return terrane_finalize() == TERRANE_OK && right ? 0 : 1;
}
