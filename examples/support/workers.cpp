#include "support/workers.h"

#include <terrane/pages.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace example {
namespace {

constexpr std::uint32_t kWorkersBarrier = 1;

}  // namespace

void run_threads(std::uint32_t threads, const std::function<void(std::uint32_t)>& work) {
  std::vector<std::thread> others;
  for (std::uint32_t thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

void workers_barrier(std::uint32_t threads_here) {
  if (terrane_barrier_threads(kWorkersBarrier, threads_here) == TERRANE_OK) return;
  std::fprintf(stderr, "%s\n", terrane_error());
  std::_Exit(1);
}

}  // namespace example
