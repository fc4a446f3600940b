#include "forecast/forecast.h"

#include <gtest/gtest.h>

#include "forecast/test_program.h"

namespace terrane::forecast {
namespace {

using Kind = Op::Kind;

TEST(ForecastTest, ComputingTakesItsTimeOnEachProcessor) {
  TestProgram program(1, 1);
  program.add(0, work(5 * kMs)).add(0, work(2 * kMs));
  Forecast answer = play(program, 1);
  EXPECT_EQ(answer.stuck, "");
  EXPECT_EQ(answer.total, 7 * kMs);
  EXPECT_EQ(answer.threads[0].computing, 7 * kMs);
}

TEST(ForecastTest, ThreadsTakeTurnsAtTooFewProcessors) {
  TestProgram program(2, 1);
  program.add_all(work(10 * kMs));
  EXPECT_EQ(play(program, 1, 2).total, 10 * kMs);
  Forecast shared = play(program, 1, 1);
  EXPECT_EQ(shared.total, 20 * kMs);
  for (const Times& times : shared.threads) EXPECT_GE(times.computing, 19 * kMs);
  EXPECT_EQ(play(program, 2, 1).total, 10 * kMs);
}

TEST(ForecastTest, ThreeThreadsShareTwoProcessors) {
  TestProgram program(3, 1);
  program.add_all(work(10 * kMs));
  EXPECT_NEAR(static_cast<double>(play(program, 1, 2).total), 15 * kMs, 1.0 * kMs);
}

TEST(ForecastTest, ABarrierWaitsForTheSlowest) {
  TestProgram program(4, 1);
  for (std::uint32_t t = 0; t < 4; ++t) program.add(t, work((t + 1) * kMs));
  program.add_all(barrier());
  program.add_all(work(kMs));
  for (std::uint32_t nodes : {1u, 2u, 4u}) {
    Forecast answer = play(program, nodes, 4);
    EXPECT_EQ(answer.stuck, "");
    EXPECT_NEAR(static_cast<double>(answer.total), 5.0 * kMs, 0.05 * kMs) << nodes;
    EXPECT_NEAR(static_cast<double>(answer.threads[0].barriers), 3.0 * kMs, 0.05 * kMs) << nodes;
    ASSERT_EQ(answer.barriers.size(), 1u);
    EXPECT_EQ(answer.barriers[0].arrivals, 4u);
  }
}

TEST(ForecastTest, NodesWithoutThreadsTakePartInBarriers) {
  TestProgram program(2, 1);
  program.add_all(barrier()).add_all(work(kMs)).add_all(barrier());
  program.limit_barriers([](std::uint32_t, std::uint64_t) { return true; });
  Forecast answer = play(program, 5);
  EXPECT_EQ(answer.stuck, "");
  EXPECT_NEAR(static_cast<double>(answer.total), 1.0 * kMs, 0.1 * kMs);
}

TEST(ForecastTest, ALockThatTravelsTakesTheWayOfItsLink) {
  TestProgram program(2, 1);
  constexpr int kTimes = 50;
  for (int i = 0; i < kTimes; ++i)
    program.add_all(of(Kind::kLock, 7))
        .add_all(write(0))
        .add_all(work(kMs))
        .add_all(of(Kind::kUnlock, 7));
  Forecast here = play(program, 1, 2);
  EXPECT_NEAR(static_cast<double>(here.total), 2.0 * kTimes * kMs, 1.0 * kMs);
  ASSERT_EQ(here.locks.size(), 1u);
  EXPECT_EQ(here.locks[0].acquisitions, 2u * kTimes);
  EXPECT_EQ(here.locks[0].remote, 0u);
  Forecast there = play(program, 2, 1, link(100, 1e9));
  ASSERT_EQ(there.locks.size(), 1u);
  EXPECT_EQ(there.locks[0].id, 7u);
  EXPECT_GT(there.locks[0].remote, 0u);
  double way = 0.1 * kMs * static_cast<double>(there.locks[0].remote);
  EXPECT_GT(static_cast<double>(there.total), 2.0 * kTimes * kMs + way);
  EXPECT_LT(static_cast<double>(there.total), 2.0 * kTimes * kMs + 8 * way);
}

TEST(ForecastTest, NewsOfAnEventTakeAMessagesWay) {
  TestProgram program(3, 1);
  program.add(0, work(kMs)).add(0, of(Kind::kSet, 1));
  program.add(1, of(Kind::kAwait, 1)).add(1, work(kMs)).add(1, of(Kind::kSet, 2));
  program.add(2, of(Kind::kAwait, 2)).add(2, work(kMs));
  Costs costs = link(1'000, 0);
  Forecast apart = play(program, 3, 1, costs);
  EXPECT_EQ(apart.stuck, "");
  EXPECT_NEAR(static_cast<double>(apart.total), 3.0 * kMs + 2 * costs.latency, 3'000);
  EXPECT_NEAR(static_cast<double>(play(program, 1, 1, costs).total), 3.0 * kMs, 3'000);
  // The wait for its start is no thread's.
  EXPECT_EQ(apart.threads[2].others, 0u);
}

TEST(ForecastTest, OneNodeFaultsOncePerPage) {
  TestProgram program(4, 8);
  for (int round = 0; round < 10; ++round)
    for (std::uint32_t t = 0; t < 4; ++t)
      for (std::uint64_t page = 0; page < 8; ++page) program.add(t, write(page, 1ull << t));
  Forecast answer = play(program, 1, 4);
  EXPECT_EQ(answer.stuck, "");
  EXPECT_GE(answer.nodes[0].faults, 8u);
  EXPECT_LE(answer.nodes[0].faults, 4u * 8);  // at the same time
  EXPECT_EQ(answer.nodes[0].messages, 0u);
  EXPECT_EQ(answer.nodes[0].most_pages, 8u);
}

TEST(ForecastTest, FalseSharingCostsFaultsOnSeveralNodesOnly) {
  constexpr std::uint32_t kThreads = 8;
  constexpr int kRounds = 20;
  TestProgram program(kThreads, 1);
  for (int round = 0; round < kRounds; ++round)
    for (std::uint32_t t = 0; t < kThreads; ++t)
      program.add(t, write(0, 1ull << t)).add(t, work(kMs / 10)).add(t, barrier());
  Forecast one = play(program, 1, kThreads);
  for (std::uint32_t nodes : {2u, 4u, kThreads}) {
    Forecast answer = play(program, nodes, kThreads);
    EXPECT_EQ(answer.stuck, "");
    EXPECT_GT(answer.total, one.total) << nodes;
    ASSERT_EQ(answer.pages.size(), 1u);
    EXPECT_EQ(answer.pages[0].page, 0u);
    EXPECT_EQ(answer.pages[0].nodes, nodes);
    EXPECT_GT(answer.barriers[0].waited, 0u);
  }
}

TEST(ForecastTest, ReadersFetchWhatAMasterHasFilled) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kPages = 64;
  TestProgram program(kThreads, kPages);
  for (std::uint64_t page = 0; page < kPages; ++page) program.add(0, write(page, ~0ull));
  program.add_all(barrier());
  for (std::uint32_t t = 1; t < kThreads; ++t)
    for (std::uint64_t page = 0; page < kPages; ++page) program.add(t, read(page));
  Forecast answer = play(program, kThreads);
  EXPECT_EQ(answer.stuck, "");
  for (std::uint32_t n = 1; n < kThreads; ++n) {
    EXPECT_GE(answer.nodes[n].fetched, kPages);
    EXPECT_GE(answer.nodes[n].most_pages, kPages);
    EXPECT_GT(answer.threads[n].faults, 0u);
  }
  EXPECT_GT(answer.nodes[0].bytes, kPages * 4096 * (kThreads - 1));
  EXPECT_GE(answer.pages.size(), 1u);  // most pages are prefetched
  EXPECT_LT(answer.pages.size(), kPages);
}

TEST(ForecastTest, WorkThatIsSplitGetsFasterWithNodes) {
  constexpr std::uint32_t kThreads = 64;
  TestProgram program(kThreads, kThreads);
  for (int round = 0; round < 5; ++round)
    for (std::uint32_t t = 0; t < kThreads; ++t)
      program.add(t, write(t))
          .add(t, work(10 * kMs))
          .add(t, read((t + 1) % kThreads))
          .add(t, barrier());
  Ns before = ~0ull;
  for (std::uint32_t nodes : {2u, 4u, 8u, 16u, 32u, 64u}) {
    Forecast answer = play(program, nodes, 1);
    EXPECT_EQ(answer.stuck, "");
    EXPECT_LT(answer.total, before) << nodes;
    EXPECT_GE(answer.total, 5 * 10 * kMs * kThreads / nodes);
    EXPECT_LT(static_cast<double>(answer.total), 1.2 * 5 * 10 * kMs * kThreads / nodes) << nodes;
    before = answer.total;
  }
}

TEST(ForecastTest, ADeadlockIsSaid) {
  TestProgram program(2, 1);
  program.add(0, of(Kind::kLock, 1)).add(0, work(kMs)).add(0, of(Kind::kLock, 2));
  program.add(1, of(Kind::kLock, 2)).add(1, work(kMs)).add(1, of(Kind::kLock, 1));
  for (std::uint32_t nodes : {1u, 2u}) {
    Forecast answer = play(program, nodes, 2);
    EXPECT_NE(answer.stuck.find("thread 0 on node 0 waits for lock 2"), std::string::npos)
        << answer.stuck;
    EXPECT_NE(answer.stuck.find("waits for lock 1"), std::string::npos) << answer.stuck;
  }
}

TEST(ForecastTest, AnEventThatNobodySetsIsSaid) {
  TestProgram program(2, 1);
  program.add(1, of(Kind::kAwait, 9));
  EXPECT_EQ(play(program, 2).stuck, "thread 1 on node 1 waits for event 9");
}

TEST(ForecastTest, WrongArgumentsAreSaid) {
  TestProgram program(2, 4);
  program.add(0, read(4));
  EXPECT_EQ(play(program, 0).stuck, "a node and a processor are needed");
  EXPECT_EQ(play(program, 1).stuck, "thread 0 accesses page 4 of 4");
  program.rewind();
  EXPECT_EQ(forecast(program, {.nodes = 2, .node_of = {0, 2}}).stuck,
            "thread 1 is placed on node 2 of 2");
}

TEST(ForecastTest, TheSameProgramTakesTheSameTime) {
  TestProgram program(6, 16);
  for (int round = 0; round < 5; ++round)
    for (std::uint32_t t = 0; t < 6; ++t)
      program.add(t, of(Kind::kLock, round % 3u))
          .add(t, write((t * 3u + static_cast<unsigned>(round)) % 16, 6))
          .add(t, of(Kind::kUnlock, round % 3u))
          .add(t, read(t))
          .add(t, barrier());
  Forecast first = play(program, 3, 1), second = play(program, 3, 1);
  EXPECT_EQ(first.stuck, "");
  EXPECT_EQ(first.total, second.total);
  EXPECT_EQ(first.nodes[1].messages, second.nodes[1].messages);
}

}  // namespace
}  // namespace terrane::forecast
