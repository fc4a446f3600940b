#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "protocol/core/central_barrier.h"

namespace terrane::runtime {
namespace {

using protocol::CentralBarrier;
using Round = CentralBarrier::Round;

// Threads that come and withdraw at any time agree on every round. Where it was not held they meet
// otherwise, as nodes do.
TEST(CentralBarrierTest, AllSeeTheSameRoundsHeld) {
  constexpr int kNodes = 3, kRounds = 2'000;
  CentralBarrier::Word word{0};
  std::barrier by_messages(kNodes);
  std::vector<bool> seen[kNodes];
  auto node = [&](int self) {
    CentralBarrier barrier(word, kNodes);
    std::uint32_t random = static_cast<std::uint32_t>(self) + 1;
    for (int i = 0; i < kRounds; ++i) {
      random = random * 1664525 + 1013904223;
      std::optional<std::uint32_t> told;
      if (random >> 16 & 7) told = 1;
      std::uint64_t round = barrier.come(told);
      Round state = barrier.look(round);
      for (int looks = 0; state == Round::kOpen; ++looks) {
        if (looks % 8 == 7) std::this_thread::yield();
        state = looks > 200 ? barrier.withdraw(round) : barrier.look(round);
      }
      seen[self].push_back(state == Round::kHeld);
      if (state == Round::kOff) by_messages.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (int self = 1; self < kNodes; ++self) others.emplace_back(node, self);
  node(0);
  for (std::thread& other : others) other.join();
  for (int self = 1; self < kNodes; ++self) EXPECT_EQ(seen[self], seen[0]);
}

}  // namespace
}  // namespace terrane::runtime
