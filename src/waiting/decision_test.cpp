#include "waiting/decision.h"

#include <gtest/gtest.h>

namespace terrane::waiting {
namespace {

constexpr std::uint64_t kUs = 1000;

struct Row {
  const char* claim;
  WaitState wait;
  Action action;
};

TEST(DecisionTest, AWaitingThreadDoesWhatTheTableSays) {
  using enum Competition;
  using enum Action;
  using Need = HandlerNeed;
  const Row table[] = {
      {"alone it polls", {.waited_ns = 4999 * kUs}, kSpin},
      {"and sleeps at last", {.waited_ns = 5000 * kUs}, kSleep},
      {"a wait for its own node is shorter",
       {.waited_ns = 100 * kUs, .longest_ns = kCrowdedNs},
       kSleep},
      {"or none", {.longest_ns = 0}, kSleep},
      {"a competitor that waits as well has its turn", {.competition = kShares}, kYield},
      {"for as long", {.competition = kShares, .waited_ns = 4999 * kUs, .looks = 99}, kYield},
      {"and then it sleeps", {.competition = kShares, .waited_ns = 5000 * kUs}, kSleep},
      {"a wait for its own node does soon",
       {.competition = kShares, .waited_ns = 100 * kUs, .longest_ns = kCrowdedNs},
       kSleep},
      {"one that computes is yielded nothing", {.competition = kKeeps}, kSpin},
      {"but has the processor soon", {.competition = kKeeps, .waited_ns = 100 * kUs}, kSleep},
      {"and sooner in a wait for a chunk",
       {.competition = kKeeps, .waited_ns = 5 * kUs, .crowded_ns = kVersionCrowdedNs},
       kSleep},
      {"which alone polls as long as others",
       {.waited_ns = 4999 * kUs, .crowded_ns = kVersionCrowdedNs},
       kSpin},
      {"where threads do not fit each look yields", {.fits = false}, kYield},
      {"for a while", {.fits = false, .waited_ns = 100 * kUs, .looks = 16}, kSleep},
      {"and some looks at least", {.fits = false, .waited_ns = 9000 * kUs, .looks = 15}, kYield},
      {"whatever it waits for", {.fits = false, .longest_ns = 0}, kYield},
      {"beside one that computes it sleeps", {.fits = false, .competition = kKeeps}, kSleep},
      {"a handler that is called has the processor", {.handler = Need::kNow}, kYield},
      {"one that is awake has it soon",
       {.handler = Need::kSoon, .waited_ns = kHandlerSoonNs},
       kYield},
      {"but not at once", {.handler = Need::kSoon, .waited_ns = kHandlerSoonNs - 1}, kSpin},
      {"also beside a program that computes",
       {.competition = kKeeps, .handler = Need::kNow, .waited_ns = 99 * kUs},
       kYield},
      {"a thread that is to sleep does", {.mode = Mode::kSleep, .handler = Need::kNow}, kSleep},
      {"one that is to spin never sleeps", {.mode = Mode::kSpin, .waited_ns = ~0ull}, kSpin},
      {"but yields",
       {.mode = Mode::kSpin, .fits = false, .competition = kKeeps, .waited_ns = ~0ull, .looks = 99},
       kYield},
  };
  for (const Row& row : table) EXPECT_EQ(decide(row.wait), row.action) << row.claim;
}

}  // namespace
}  // namespace terrane::waiting
