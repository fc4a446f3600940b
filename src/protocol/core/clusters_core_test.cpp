// Barriers, expiries and locks of nodes in two and three clusters: which messages cross the links.
#include <gtest/gtest.h>

#include "base/prng.h"
#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

constexpr std::uint32_t kTwo[] = {0, 0, 0, 1, 1, 1};
constexpr std::uint32_t kMixed[] = {1, 0, 1, 0, 2, 2, 0};

TestJob job_in(std::span<const std::uint32_t> clusters) {
  return TestJob(static_cast<std::uint32_t>(clusters.size()), 1024, 4, ~0ull, nullptr,
                 clusters.data());
}

// Delivers all messages; returns how many went from one cluster to another.
std::uint32_t deliver_and_count(TestJob& job, std::span<const std::uint32_t> clusters) {
  std::uint32_t crossing = 0;
  while (!job.messages.empty()) {
    const auto& message = job.messages.front();
    crossing += clusters[message.from.value] != clusters[message.to.value];
    job.deliver();
  }
  return crossing;
}

void arrive(TestJob& job, std::uint32_t node, std::uint32_t id = 0) {
  job.step(node, BarrierEnter{BarrierId{id}, 1, WaiterId{10 * id + node}});
  job.resumed.clear();
  job.step(node, BarrierArrive{BarrierId{id}, WaiterId{10 * id + node}});
}

TEST(ClustersCoreTest, ABarrierCrossesALinkOnceInEachDirection) {
  for (std::span<const std::uint32_t> clusters :
       {std::span<const std::uint32_t>(kTwo), std::span<const std::uint32_t>(kMixed)}) {
    TestJob job = job_in(clusters);
    auto nodes = static_cast<std::uint32_t>(clusters.size());
    for (std::uint32_t round = 1; round <= 3; ++round) {
      std::uint32_t crossing = 0;
      for (std::uint32_t n = 0; n < nodes; ++n) {
        arrive(job, n);
        crossing += deliver_and_count(job, clusters);
        EXPECT_EQ(job.resumed.size(), n + 1 < nodes ? 0u : nodes);
      }
      EXPECT_EQ(crossing, nodes == 6 ? 2u : 4u);
      for (std::uint32_t n = 0; n < nodes; ++n) {
        EXPECT_EQ(job.resumed[n].value, round);
        job.step(n, Learn{job.resumed[n].payload, true});
        job.step(n, BarrierLeave{BarrierId{0}});
      }
      job.resumed.clear();
    }
    EXPECT_EQ(job.malformed, 0);
  }
}

// Node 0 gathers before it enters. The notices of all nodes reach it by one message over each link,
// and its broadcast goes back by one.
TEST(ClustersCoreTest, AJoinAndAForkCrossALinkOnceInEachDirection) {
  for (std::span<const std::uint32_t> clusters :
       {std::span<const std::uint32_t>(kTwo), std::span<const std::uint32_t>(kMixed)}) {
    TestJob job = job_in(clusters);
    auto nodes = static_cast<std::uint32_t>(clusters.size());
    std::vector<std::byte> told(16, std::byte{7});
    auto come = [&](std::uint32_t node) {
      Bytes values = node == 0 ? Bytes(told) : Bytes();
      Contribution brings{.op = ReduceOp::kBroadcast, .values = values};
      job.step(node, BarrierEnter{BarrierId{0}, 1, WaiterId{node}, brings});
      job.resumed.clear();
      job.step(node, BarrierArrive{BarrierId{0}, WaiterId{node}});
    };
    std::vector<BlockRange> notices{{7, 1}};
    for (std::uint32_t n = 1; n < nodes; ++n) job.step(n, CloseInterval{&notices});
    job.step(0, BarrierGather{BarrierId{0}, 1, true, WaiterId{50}});
    std::uint32_t joining = 0;
    for (std::uint32_t n = nodes; --n > 0;) {
      EXPECT_FALSE(job.was_resumed(50)) << "node " << n << " is missing";
      come(n);
      joining += deliver_and_count(job, clusters);
    }
    EXPECT_EQ(joining, nodes == 6 ? 1u : 2u);
    ASSERT_TRUE(job.was_resumed(50));
    job.step(0, Learn{job.resumed[50].payload, false});
    for (std::uint32_t n = 1; n < nodes; ++n) EXPECT_EQ(job.core(0).timestamp()[n], 1u);
    come(0);
    EXPECT_EQ(deliver_and_count(job, clusters), nodes == 6 ? 1u : 2u);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      EXPECT_EQ(job.resumed[n].value, 1u);
      job.step(n, Learn{job.resumed[n].payload, true});
      job.step(n, BarrierResult{BarrierId{0}, WaiterId{n}});
      EXPECT_EQ(job.resumed[n].payload, told);
      for (std::uint32_t other = 1; other < nodes; ++other)
        EXPECT_EQ(job.core(n).timestamp()[other], 1u);
    }
    EXPECT_EQ(job.malformed, 0);
  }
}

// Two barriers at once end in the same order at all nodes, whatever the order of the messages.
TEST(ClustersCoreTest, BarriersThatOverlapEndInOneOrder) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    base::Prng random(seed);
    TestJob job = job_in(kTwo);
    std::vector<std::uint32_t> arrivals;
    for (std::uint32_t n = 0; n < 12; ++n) arrivals.push_back(n);
    for (std::uint32_t i = 12; i-- > 1;) std::swap(arrivals[i], arrivals[random.below(i + 1)]);
    std::map<std::uint32_t, std::uint64_t> number;  // by waiter
    auto note = [&] {
      for (auto& [waiter, resumed] : job.resumed) number[waiter] = resumed.value;
      job.resumed.clear();
    };
    while (!arrivals.empty() || !job.messages.empty()) {
      if (!arrivals.empty() && (job.messages.empty() || random.chance(50))) {
        std::uint32_t node = arrivals.back() % 6, id = arrivals.back() / 6;
        arrivals.pop_back();
        note();
        arrive(job, node, id);
      } else {
        // The oldest message of a random pair of nodes.
        std::size_t at = random.below(static_cast<std::uint32_t>(job.messages.size()));
        for (std::size_t i = 0; i < at; ++i)
          if (job.messages[i].from == job.messages[at].from &&
              job.messages[i].to == job.messages[at].to)
            at = i;
        TestJob::Message next = std::move(job.messages[at]);
        job.messages.erase(job.messages.begin() + static_cast<std::ptrdiff_t>(at));
        job.messages.push_front(std::move(next));
        job.deliver();
      }
      note();
    }
    ASSERT_EQ(number.size(), 12u) << "seed " << seed;
    for (std::uint32_t n = 0; n < 6; ++n) {
      EXPECT_EQ(number[n], number[0]) << "seed " << seed;
      EXPECT_EQ(number[10 + n], 3 - number[0]) << "seed " << seed;
    }
    EXPECT_EQ(job.malformed, 0);
  }
}

TEST(ClustersCoreTest, AnExpiryEntersEachClusterOnce) {
  for (std::uint32_t origin = 0; origin < 7; ++origin) {
    TestJob job = job_in(kMixed);
    std::vector<BlockRange> ranges{{3, 2}};
    job.step(origin, ExpireCopies{&ranges, WaiterId{3}});
    EXPECT_EQ(deliver_and_count(job, kMixed), 2u);
    EXPECT_EQ(job.expires.size(), 6u);
    auto told = std::move(job.expires);
    for (auto [node, expire] : told) job.step(node, Expired{expire.origin, expire.waiter});
    EXPECT_EQ(deliver_and_count(job, kMixed), 2u);
    EXPECT_TRUE(job.was_resumed(3));
    EXPECT_EQ(job.malformed, 0);
  }
}

// Takes the lock and gives it back; returns how many messages crossed the link.
std::uint32_t use(TestJob& job, std::uint32_t node, LockId lock) {
  job.resumed.clear();
  job.step(node, LockAcquire{lock, WaiterId{node}});
  std::uint32_t crossing = deliver_and_count(job, kTwo);
  EXPECT_TRUE(job.was_resumed(node));
  job.step(node, LockRelease{lock, WaiterId{node}});
  return crossing + deliver_and_count(job, kTwo);
}

TEST(ClustersCoreTest, ALockThatStaysInAClusterSendsNothingAcrossFromItsSecondUse) {
  for (std::uint64_t lock = 0; lock < 12; ++lock) {
    for (std::uint32_t cluster : {0u, 1u}) {
      TestJob job = job_in(kTwo);
      LockId id{lock};
      bool near = kTwo[lock % 6] == cluster;
      EXPECT_EQ(use(job, 3 * cluster + 1, id), near ? 0u : 2u) << lock;
      for (std::uint32_t n : {2u, 0u, 1u, 0u}) EXPECT_EQ(use(job, 3 * cluster + n, id), 0u) << lock;
      EXPECT_EQ(job.malformed, 0);
      // The other cluster can still get the lock.
      EXPECT_GT(use(job, 3 * (1 - cluster), id), 0u);
      EXPECT_LE(use(job, 3 * cluster, id), 2u);
      EXPECT_EQ(job.malformed, 0);
    }
  }
}

TEST(ClustersCoreTest, ALockThatWasUsedStaysWithItsFirstManager) {
  TestJob job = job_in(kTwo);
  use(job, 0, LockId{0});
  use(job, 4, LockId{0});
  EXPECT_TRUE(job.core(0).locks().manages(LockId{0}));
  use(job, 5, LockId{1});
  EXPECT_FALSE(job.core(1).locks().manages(LockId{1}));
}

TEST(ClustersCoreTest, RequestsWhileAnAgentAsksAreHeldBack) {
  TestJob job = job_in(kTwo);
  constexpr LockId kLock{0};
  for (std::uint32_t n : {3u, 4u, 5u}) job.step(n, LockAcquire{kLock, WaiterId{n}});
  for (std::uint32_t served = 0; served < 3; ++served) {
    job.resumed.clear();
    deliver_and_count(job, kTwo);
    std::uint32_t holder = 0;
    for (std::uint32_t n : {3u, 4u, 5u})
      if (job.core(n).locks().holds(kLock, WaiterId{n})) holder = n;
    ASSERT_NE(holder, 0u);
    job.step(holder, LockRelease{kLock, WaiterId{holder}});
  }
  EXPECT_EQ(job.malformed, 0);
}

TEST(ClustersCoreTest, AnswersThatNoAgentAskedForAreRefused) {
  TestJob job = job_in(kTwo);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::LockManagerAt{.kind = wire::Kind::kLockManager, .manager = 3, .lock = 0});
  job.step(3, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1) << "nobody asked";
  job.step(3, LockAcquire{LockId{0}, WaiterId{3}});
  job.step(3, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 2) << "not from the first manager";
  bytes.clear();
  wire::put(bytes, wire::LockManagerAt{.kind = wire::Kind::kLockManager, .manager = 4, .lock = 0});
  job.step(3, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 3) << "node 4 is no agent for the lock";
  bytes.clear();
  wire::put(bytes, wire::LockManagerAt{.lock = 0});
  job.step(4, Received{NodeId{3}, bytes});
  job.step(0, Received{NodeId{4}, bytes});
  EXPECT_EQ(job.malformed, 5);
}

}  // namespace
}  // namespace terrane::protocol
