#include "waiting/local_barrier.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace terrane::waiting {
namespace {

constexpr std::uint32_t kThreads = 4;
constexpr int kRounds = 300;

TEST(LocalBarrierTest, NobodyGoesOnBeforeAllHaveCome) {
  LocalBarrier barrier;
  std::vector<int> rounds(kThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      for (int round = 1; round <= kRounds; ++round) {
        rounds[self] = round;
        barrier.wait(kThreads);
        for (int other : rounds) wrong += other != round ? 1 : 0;
        barrier.wait(kThreads);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(LocalBarrierTest, TheOthersHearWhatIsToldAfterTheyWereGathered) {
  LocalBarrier barrier;
  std::vector<int> done(kThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t self = 1; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      for (int round = 1; round <= kRounds; ++round) {
        barrier.wait(kThreads);
        bool tells = round % 3 != 0;
        wrong += barrier.told().size() != (tells ? sizeof round : 0) ? 1 : 0;
        if (tells && *reinterpret_cast<const int*>(barrier.told().data()) != round) ++wrong;
        done[self] = round;
      }
      barrier.wait(kThreads);
    });
  }
  for (int round = 1; round <= kRounds + 1; ++round) {
    barrier.gather(kThreads);
    for (std::uint32_t other = 1; other < kThreads; ++other)
      wrong += done[other] != round - 1 ? 1 : 0;
    auto told = std::as_bytes(std::span(&round, round % 3 != 0 ? 1 : 0));
    barrier.release(kThreads, told);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace terrane::waiting
