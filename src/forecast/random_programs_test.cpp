// Random programs of all ops end, on all numbers of nodes.
#include <gtest/gtest.h>

#include "base/prng.h"
#include "forecast/machine.h"
#include "forecast/test_program.h"

namespace terrane::forecast {
namespace {

using Kind = Op::Kind;

constexpr std::uint32_t kThreads = 6;
constexpr std::uint64_t kPages = 40;
constexpr std::uint64_t kFirstCount = 1ull << 32;

// A few ops that wait for no other thread for ever, in any order.
void add_ops(TestProgram& program, std::uint32_t t, base::Prng& random) {
  auto page = [&] { return std::uint64_t{random.below(kPages)}; };
  switch (random.below(8)) {
    case 0: {
      std::uint64_t lock = random.below(3);
      program.add(t, of(random.chance(50) ? Kind::kLock : Kind::kTryLock, lock));
      program.add(t, write(page(), 1ull << random.below(64)));
      program.add(t, of(Kind::kUnlock, lock));
      break;
    }
    case 1:
      program.add(t, work(random.below(3'000'000)));
      break;
    case 2: {
      std::uint64_t from = page();
      for (std::uint64_t p = from; p < kPages && p < from + 20; ++p) program.add(t, read(p));
      break;
    }
    case 3:
      program.add(t, {.kind = Kind::kAtomic, .page = page()});
      break;
    case 4:
      program.add(t, {.kind = Kind::kFence});
      break;
    case 5:
      program.add(t, of(Kind::kChangeCount, kFirstCount, 1));
      program.add(t, of(Kind::kTakeUnits, kFirstCount, 1));
      break;
    case 6:
      program.add(t, of(random.chance(50) ? Kind::kSignal : Kind::kBroadcast, kFirstCount + 1));
      break;
    default:
      for (int i = 0; i < 10; ++i) program.add(t, write(page(), random.next() | 1));
      break;
  }
}

TestProgram random_program(std::uint64_t seed) {
  base::Prng random(seed);
  auto homes = static_cast<protocol::Homes>(random.below(4));
  auto coherence = static_cast<protocol::Protocol>(random.below(3));
  auto propagation = static_cast<protocol::Propagation>(random.below(3));
  std::uint32_t home = homes == protocol::Homes::kExplicit ? 3 : 0;
  TestProgram program(kThreads, 0);
  program.set_regions(
      {{0, 10, {}},
       {10,
        kPages - 10,
        {.homes = homes, .protocol = coherence, .propagation = propagation, .argument = home}}});
  std::uint32_t rounds = 1 + random.below(8);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t t = 0; t < kThreads; ++t)
      for (std::uint32_t i = 0, ops = random.below(12); i < ops; ++i) add_ops(program, t, random);
    std::uint32_t first = random.below(kThreads);
    program.add(first, of(Kind::kSet, round));
    for (std::uint32_t t = 0; t < kThreads; ++t)
      if (t != first && random.chance(50)) program.add(t, of(Kind::kAwait, round));
    bool arrives = random.chance(30);
    if (!arrives && random.chance(20)) program.add(0, of(Kind::kGather, 1));
    program.add_all(arrives ? of(Kind::kArrive, kFirstCount + 2, kThreads) : barrier());
    if (arrives) program.add_all(barrier());
  }
  return program;
}

TEST(RandomProgramsTest, AllEndInTheSameWayEachTime) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    TestProgram program = random_program(seed);
    for (std::uint32_t nodes : {1u, 2u, 3u, 6u, 8u}) {
      std::uint32_t processors = 1 + static_cast<std::uint32_t>(seed % 3);
      Forecast answer = play(program, nodes, processors, link(seed % 5 * 50.0, 1e9));
      ASSERT_EQ(answer.stuck, "") << "seed " << seed << ", " << nodes << " nodes";
      ASSERT_EQ(play(program, nodes, processors, link(seed % 5 * 50.0, 1e9)).total, answer.total);
      for (const Times& times : answer.threads)
        ASSERT_LE(times.computing + times.faults + times.locks + times.barriers + times.others,
                  answer.total);
    }
  }
}

}  // namespace
}  // namespace terrane::forecast
