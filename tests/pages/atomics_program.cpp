// std::atomic in shared memory: compiled with -fno-inline-atomics it works between nodes. Says
// "good" on every node, or what went wrong. Usage: atomics_program
#include <atomic>
#include <thread>
#include <vector>

#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr int kThreads = 2;  // of a node
constexpr int kRounds = 50;

struct Shared {
  std::atomic<long> sum;
  std::atomic<int> bits;
  std::atomic<short> small;
  std::atomic<unsigned char> byte;
  std::atomic<long> swapped;
  std::atomic<int> flag;
  long data[64];  // ordered by the flag
};

[[gnu::noinline]] void work(Shared* shared, int number, int threads) {
  for (int i = 0; i < kRounds; ++i) {
    shared->sum.fetch_add(number + 1);
    ++shared->small;
    shared->byte -= 1;
    long before = shared->swapped.load();
    while (!shared->swapped.compare_exchange_weak(before, before + 2)) {
    }
  }
  shared->bits |= 1 << number;
  while (shared->flag.load() != number) std::this_thread::yield();
  for (int i = 0; i < number; ++i) EXPECT(shared->data[i] == i + 1);
  shared->data[number] = number + 1;
  shared->flag.store(number + 1);
  while (shared->flag.load() != threads) std::this_thread::yield();
}

}  // namespace

int main() {
  if (terrane_init() != TERRANE_OK) {
    std::fprintf(stderr, "%s\n", terrane_error());
    return 9;
  }
  int threads = kThreads * terrane_nodes();
  auto* shared = allocate_all<Shared>(1);
  EXPECT(terrane_barrier() == TERRANE_OK);
  std::vector<std::thread> workers;
  for (int i = 0; i < kThreads; ++i)
    workers.emplace_back([=] { work(shared, terrane_node() * kThreads + i, threads); });
  for (std::thread& worker : workers) worker.join();
  EXPECT(terrane_barrier() == TERRANE_OK);
  EXPECT(shared->sum.load() == kRounds * threads * (threads + 1) / 2);
  EXPECT(shared->small.load() == kRounds * threads);
  EXPECT(shared->byte.load() == static_cast<unsigned char>(-kRounds * threads));
  EXPECT(shared->swapped.load() == 2 * kRounds * threads);
  EXPECT(shared->bits.load() == (1 << threads) - 1);
  std::atomic<int> own{5};  // elsewhere
  EXPECT(own.fetch_sub(2) == 5 && own.exchange(7) == 3 && own.load() == 7);
  EXPECT(terrane_finalize() == TERRANE_OK);
  std::puts("good");
  return 0;
}
