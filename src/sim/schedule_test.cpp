#include "sim/schedule.h"

#include <gtest/gtest.h>

namespace terrane::sim {
namespace {

std::uint32_t picks_of(Schedule& schedule, ActorId wanted, std::uint32_t of) {
  std::uint32_t picks = 0;
  for (std::uint32_t i = 0; i < of; ++i) picks += schedule.pick() == wanted;
  return picks;
}

TEST(ScheduleTest, SlowActorsActSeldom) {
  base::Prng rng(1);
  Schedule schedule;
  schedule.begin(rng, Mood::kSlow);
  schedule.ready(0);
  schedule.ready(1);
  schedule.set_slow(0);
  EXPECT_LT(picks_of(schedule, 0, 10'000), 500u);
}

// A thread that polls a flag sleeps between its loads, and must not make others slow again.
TEST(ScheduleTest, NobodyIsSlowOnceAllAreFair) {
  base::Prng rng(1);
  Schedule schedule;
  schedule.begin(rng, Mood::kSlow);
  for (ActorId actor : {0, 1, 2}) schedule.ready(actor);
  schedule.set_slow(0);
  schedule.make_fair();
  schedule.doze(2);
  EXPECT_GT(picks_of(schedule, 0, 10'000), 3'000u);
}

}  // namespace
}  // namespace terrane::sim
