#include "frontend/omp/node_wait.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

// As the runtime does, without polling.
void terrane_program_wait(std::atomic<std::uint32_t>* word, std::uint32_t value, bool) {
  word->wait(value);
}
void terrane_program_wake(std::atomic<std::uint32_t>* word) { word->notify_all(); }

namespace terrane::frontend::omp {
namespace {

TEST(NodeWaitTest, NoAnnouncementIsMissed) {
  constexpr std::uint32_t kThreads = 3, kRounds = 20'000;
  Signal signal;
  std::atomic<std::uint32_t> turn{0};
  std::uint32_t plain = 0;  // what a thread wrote before it announced is seen by the next one
  auto run = [&](std::uint32_t self) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      std::uint32_t own = round * kThreads + self;
      signal.await(false, [&] { return turn.load(std::memory_order_acquire) == own; });
      EXPECT_EQ(plain, own);
      ++plain;
      turn.store(own + 1, std::memory_order_release);
      signal.announce();
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < kThreads; ++self) threads.emplace_back(run, self);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(plain, kThreads * kRounds);
}

}  // namespace
}  // namespace terrane::frontend::omp
