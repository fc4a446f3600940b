#include "protocol/core/lock_manager.h"

#include <gtest/gtest.h>

#include "base/prng.h"
#include "protocol/core/test_job.h"

namespace terrane::protocol {
namespace {

TEST(LockManagerTest, AFreeLockAtItsManagerCostsNoMessage) {
  TestJob job(3);
  job.step(1, LockAcquire{LockId{1}, WaiterId{7}});
  EXPECT_TRUE(job.was_resumed(7));
  EXPECT_TRUE(job.messages.empty());
}

TEST(LockManagerTest, ARequestGoesOverTheManagerToTheLastInLine) {
  TestJob job(3);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(1));
  job.step(2, LockAcquire{LockId{0}, WaiterId{2}});
  job.deliver_all();
  EXPECT_FALSE(job.was_resumed(2)) << "node 1 holds it";
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  EXPECT_EQ(job.messages.size(), 1u) << "from holder to successor, not over the manager";
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(2));
}

TEST(LockManagerTest, WhoDoesNotHoldALockCannotGiveItBack) {
  TestJob job(2);
  job.step(0, LockHandOff{LockId{0}, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, static_cast<std::uint64_t>(HandOff::kNotHeld));
  job.step(0, LockAcquire{LockId{0}, WaiterId{2}});
  job.step(0, LockHandOff{LockId{0}, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, static_cast<std::uint64_t>(HandOff::kNotHeld));
}

class ExtendedTurnTest : public testing::Test {
 protected:
  // Node 0 holds the lock, and node 1 waits for it.
  void SetUp() override {
    job_.step(0, LockAcquire{kLock, WaiterId{1}});
    job_.step(1, LockAcquire{kLock, WaiterId{2}});
    job_.deliver_all();
  }
  HandOff hand_off(std::uint32_t extends) {
    job_.step(0, LockHandOff{kLock, WaiterId{1}, true, 0, extends});
    return static_cast<HandOff>(job_.resumed[1].value);
  }

  static constexpr LockId kLock{0};
  TestJob job_{2};
};

TEST_F(ExtendedTurnTest, LastsForSoManyMoreHolders) {
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(hand_off(2), HandOff::kKept);
    job_.step(0, LockAcquire{kLock, WaiterId{1}});
    EXPECT_EQ(job_.resumed[1].value, static_cast<std::uint64_t>(Acquired::kHere));
  }
  EXPECT_EQ(job_.turns.size(), 1u) << "the host is told once a turn";
  EXPECT_FALSE(job_.was_resumed(2));
  EXPECT_EQ(hand_off(2), HandOff::kRelease);
  job_.step(0, LockRelease{kLock, WaiterId{1}});
  job_.deliver_all();
  EXPECT_TRUE(job_.was_resumed(2));
}

TEST_F(ExtendedTurnTest, EndsWithAReleaseWhereTheTokenRests) {
  EXPECT_EQ(hand_off(9), HandOff::kKept);
  job_.step(0, LockEndTurn{kLock});
  ASSERT_EQ(job_.kept.size(), 1u);
  EXPECT_TRUE(job_.messages.empty());
  job_.step(0, LockRelease{kLock, kNobody});
  job_.deliver_all();
  EXPECT_TRUE(job_.was_resumed(2));
}

TEST_F(ExtendedTurnTest, EndsWithTheHolderWhereTheLockIsHeld) {
  EXPECT_EQ(hand_off(9), HandOff::kKept);
  job_.step(0, LockAcquire{kLock, WaiterId{1}});
  job_.step(0, LockEndTurn{kLock});
  EXPECT_TRUE(job_.kept.empty());
  EXPECT_EQ(hand_off(9), HandOff::kRelease);
}

TEST_F(ExtendedTurnTest, IsExtendedForARequestThatComesLater) {
  job_.step(0, LockHandOff{kLock, WaiterId{1}, true, 0, 0});
  job_.step(0, LockRelease{kLock, WaiterId{1}});
  job_.deliver_all();
  job_.step(1, LockHandOff{kLock, WaiterId{2}, true, 0, 3});
  job_.step(0, LockAcquire{kLock, WaiterId{3}});
  job_.deliver_all();
  ASSERT_EQ(job_.turns.size(), 1u);
  EXPECT_EQ(job_.turns[0].first, 1u);
  EXPECT_FALSE(job_.was_resumed(3));
  job_.step(1, LockEndTurn{kLock});
  EXPECT_EQ(job_.kept.size(), 1u);
}

constexpr auto kBusy = static_cast<std::uint64_t>(Acquired::kBusy);

TEST(LockManagerTest, ALockThatRestsElsewhereIsGotByTrying) {
  TestJob job(3);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  job.deliver_all();
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  job.step(2, LockTry{LockId{0}, WaiterId{2}});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(2));
  EXPECT_NE(job.resumed[2].value, kBusy);
  job.step(1, LockTry{LockId{0}, WaiterId{1}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[1].value, kBusy) << "node 2 holds it";
  job.step(2, LockTry{LockId{0}, WaiterId{2}});
  EXPECT_EQ(job.resumed[2].value, static_cast<std::uint64_t>(Acquired::kHeldAlready));
  job.step(2, LockTry{LockId{0}, WaiterId{3}});
  EXPECT_EQ(job.resumed[3].value, kBusy) << "another thread of its node holds it";
  EXPECT_EQ(job.malformed, 0);
}

TEST(LockManagerTest, WhoWaitsBehindATryInVainGetsTheLock) {
  TestJob job(3);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  job.deliver_all();
  job.step(2, LockTry{LockId{0}, WaiterId{2}});
  job.step(2, LockAcquire{LockId{0}, WaiterId{3}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[2].value, kBusy);
  EXPECT_FALSE(job.was_resumed(3));
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(3));
}

TEST(LockManagerTest, MalformedTriesAreRefused) {
  TestJob job(3);
  std::vector<std::byte> busy, tried;
  wire::put(busy, wire::LockBusy{.lock = 0});
  wire::put(tried, wire::LockInserted{.kind = wire::Kind::kLockTried, .requester = 1, .lock = 0});
  job.step(1, Received{NodeId{0}, busy});
  EXPECT_EQ(job.malformed, 1) << "node 1 has tried nothing";
  job.step(0, Received{NodeId{1}, tried});
  EXPECT_EQ(job.malformed, 2) << "node 0 has asked nobody";
  wire::put(busy, wire::LockBusy{});
  job.step(1, Received{NodeId{0}, busy});
  EXPECT_EQ(job.malformed, 3) << "too long";
}

TEST(LockManagerTest, ThreadsOfANodePassALockOnWithoutARelease) {
  TestJob job(2);
  job.step(0, LockAcquire{LockId{0}, WaiterId{1}});
  job.step(0, LockAcquire{LockId{0}, WaiterId{2}});
  EXPECT_FALSE(job.was_resumed(2));
  job.step(0, LockHandOff{LockId{0}, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, static_cast<std::uint64_t>(HandOff::kHandedOver));
  EXPECT_TRUE(job.was_resumed(2));
}

TEST(LockManagerTest, ASuccessorElsewhereComesBeforeAThreadHere) {
  TestJob job(2);
  job.step(0, LockAcquire{LockId{0}, WaiterId{1}});
  job.step(0, LockAcquire{LockId{0}, WaiterId{2}});
  job.step(1, LockAcquire{LockId{0}, WaiterId{3}});
  job.deliver_all();
  job.step(0, LockHandOff{LockId{0}, WaiterId{1}});
  EXPECT_EQ(job.resumed[1].value, static_cast<std::uint64_t>(HandOff::kRelease));
  job.step(0, LockRelease{LockId{0}, WaiterId{1}});
  job.deliver_all();
  EXPECT_TRUE(job.was_resumed(3));
  EXPECT_FALSE(job.was_resumed(2)) << "it asked before, but its node has asked again since";
}

// All nodes want one lock all the time, with two threads each. Acquires and releases come in random
// order.
void check_overtaking(const std::uint32_t* hosts, const std::uint32_t* clusters = nullptr) {
  constexpr std::uint32_t kNodes = 5;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    base::Prng rng(seed);
    TestJob job(kNodes, 1024, 2, ~0ull, hosts, clusters);
    LockId lock{rng.below(kNodes)};
    std::uint32_t overtaken[kNodes] = {};  // since the node's request is in the manager's queue
    std::vector<std::uint32_t> idle;
    for (std::uint32_t w = 0; w < 2 * kNodes; ++w) idle.push_back(w);
    std::uint32_t holder = ~0u;
    for (int round = 0; round < 2000; ++round) {
      std::size_t before = job.order.size();
      std::uint32_t action = rng.below(3);
      if (action == 0 && !idle.empty()) {
        std::uint32_t at = rng.below(static_cast<std::uint32_t>(idle.size()));
        std::uint32_t waiter = idle[at];
        idle.erase(idle.begin() + at);
        job.step(waiter / 2, LockAcquire{lock, WaiterId{waiter}});
        // The counts below begin when the request has reached its place in the queue.
        job.deliver_all();
      } else if (action == 1 && holder != ~0u) {
        std::uint32_t gone = holder;
        holder = ~0u;
        idle.push_back(gone);
        job.step(gone / 2, LockHandOff{lock, WaiterId{gone}});
        if (job.order.back() == gone && job.order.size() == before + 1)
          job.step(gone / 2, LockRelease{lock, WaiterId{gone}});
        job.deliver_all();
      }
      for (std::size_t i = before; i < job.order.size(); ++i) {
        std::uint32_t waiter = job.order[i];
        if (std::find(idle.begin(), idle.end(), waiter) != idle.end()) continue;  // a hand-off
        ASSERT_EQ(holder, ~0u) << "two holders, seed " << seed;
        holder = waiter;
        for (std::uint32_t n = 0; n < kNodes; ++n) {
          bool waits = false;
          for (std::uint32_t w = 2 * n; w < 2 * n + 2; ++w)
            waits |= w != holder && std::find(idle.begin(), idle.end(), w) == idle.end();
          bool served = n == holder / 2;
          overtaken[n] = waits && !served ? overtaken[n] + 1 : 0;
          ASSERT_LE(overtaken[n], kNodes - 1) << "node " << n << ", seed " << seed;
        }
      }
    }
  }
}

TEST(LockManagerTest, NoNodeIsOvertakenMoreThanNodesMinusOneTimes) { check_overtaking(nullptr); }

TEST(LockManagerTest, NorWhereItIsOnAnotherHostThanTheHolder) {
  constexpr std::uint32_t kTwo[] = {0, 1, 0, 1, 0};
  check_overtaking(kTwo);
  constexpr std::uint32_t kOneApart[] = {0, 0, 0, 1, 0};
  check_overtaking(kOneApart);
}

TEST(LockManagerTest, NorWhereItIsInAnotherClusterThanTheHolder) {
  constexpr std::uint32_t kHosts[] = {0, 1, 2, 2, 3};
  constexpr std::uint32_t kTwo[] = {0, 1, 0, 0, 1};
  check_overtaking(kHosts, kTwo);
  constexpr std::uint32_t kThree[] = {0, 1, 2, 2, 0};
  check_overtaking(kHosts, kThree);
}

// Nodes 0, 2 and 4 are on one host, 1 and 3 on another. They request lock 4 in the given order.
// Returns the order in which they get it.
std::vector<std::uint32_t> order_of_requests(std::vector<std::uint32_t> nodes, TestJob& job) {
  for (std::uint32_t node : nodes) {
    job.step(node, LockAcquire{LockId{4}, WaiterId{node}});
    job.deliver_all();
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::uint32_t holder = job.order.back();
    job.step(holder, LockRelease{LockId{4}, WaiterId{holder}});
    job.deliver_all();
  }
  return job.order;
}

constexpr std::uint32_t kEvenAndOdd[] = {0, 1, 0, 1, 0};

TEST(LockManagerTest, WhoIsOnTheHoldersHostComesBeforeTheLastWhoIsNot) {
  TestJob job(5, 1024, 2, ~0ull, kEvenAndOdd);
  EXPECT_EQ(order_of_requests({0, 1, 2}, job), (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(job.malformed, 0);
}

TEST(LockManagerTest, TheManagerWhoHoldsTheLockDecidesAtOnce) {
  TestJob job(5, 1024, 2, ~0ull, kEvenAndOdd);
  EXPECT_EQ(order_of_requests({4, 1, 2}, job), (std::vector<std::uint32_t>{4, 2, 1}));
}

TEST(LockManagerTest, WhoComesLaterFindsHisPlaceBehindTheLast) {
  TestJob job(5, 1024, 2, ~0ull, kEvenAndOdd);
  EXPECT_EQ(order_of_requests({0, 1, 2, 3, 4}, job), (std::vector<std::uint32_t>{0, 2, 1, 3, 4}));
}

TEST(LockManagerTest, OneOnAnotherHostIsOvertakenByTurnsThatAreCounted) {
  constexpr std::uint32_t kOneApart[] = {0, 1, 0};
  TestJob job(3, 1024, 2, ~0ull, kOneApart);
  for (std::uint32_t node : {0u, 1u, 2u}) {
    job.step(node, LockAcquire{LockId{2}, WaiterId{node}});
    job.deliver_all();
  }
  job.step(0, LockRelease{LockId{2}, WaiterId{0}});
  job.deliver_all();
  ASSERT_EQ(job.order.back(), 2u) << "before node 1";
  job.step(0, LockAcquire{LockId{2}, WaiterId{10}});
  job.deliver_all();
  job.step(2, LockRelease{LockId{2}, WaiterId{2}});
  job.deliver_all();
  EXPECT_EQ(job.order.back(), 1u) << "overtaken by two turns, it is next";
  job.step(1, LockRelease{LockId{2}, WaiterId{1}});
  job.deliver_all();
  EXPECT_EQ(job.order.back(), 10u);
  EXPECT_EQ(job.malformed, 0);
}

TEST(LockManagerTest, RequestsDuringAQuestionWaitForItsAnswer) {
  TestJob job(5, 1024, 2, ~0ull, kEvenAndOdd);
  for (std::uint32_t node : {0u, 1u}) {
    job.step(node, LockAcquire{LockId{4}, WaiterId{node}});
    job.deliver_all();
  }
  job.step(2, LockAcquire{LockId{4}, WaiterId{2}});
  job.deliver();  // the manager asks node 0
  job.step(3, LockAcquire{LockId{4}, WaiterId{3}});
  job.step(0, LockRelease{LockId{4}, WaiterId{0}});
  job.deliver_all();
  for (std::uint32_t node : {1u, 3u, 2u}) {
    ASSERT_EQ(job.order.back(), node) << "node 0 was asked too late, node 1 about 3 in time";
    job.step(node, LockRelease{LockId{4}, WaiterId{node}});
    job.deliver_all();
  }
  EXPECT_EQ(job.malformed, 0);
}

TEST(LockManagerTest, InsertsAndAnswersThatCannotBeAreRefused) {
  TestJob job(5, 1024, 2, ~0ull, kEvenAndOdd);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::LockInserted{.accepted = 1, .requester = 2, .lock = 4});
  job.step(4, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1) << "nobody was asked";
  const auto insert = [&](std::uint32_t from, wire::LockRequest request, std::size_t tail) {
    request.kind = wire::Kind::kLockInsert;
    request.lock = 4;
    bytes.clear();
    wire::put(bytes, request);
    bytes.resize(bytes.size() + tail);
    job.step(0, Received{NodeId{from}, bytes});
  };
  insert(3, {.requester = 2, .before = 1}, 20);
  EXPECT_EQ(job.malformed, 2) << "not from the manager";
  insert(4, {.requester = 2, .before = 5}, 20);
  EXPECT_EQ(job.malformed, 3) << "no such node";
  insert(4, {.requester = 2, .before = 1}, 16);
  EXPECT_EQ(job.malformed, 4) << "a timestamp of four nodes";
  insert(4, {.requester = 2, .before = 1}, 20);
  EXPECT_EQ(job.malformed, 4) << "refused, for there is no token here";
}

TEST(LockManagerTest, AGrantWithSomebodyImpossibleBehindItsReceiverIsRefused) {
  TestJob job(3);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  const auto grant = [&](std::uint32_t then, std::uint32_t overtaken, std::size_t tail) {
    std::vector<std::byte> bytes;
    wire::put(bytes, wire::LockGrant{.lock = 0, .then = then, .overtaken = overtaken});
    bytes.resize(bytes.size() + tail);
    job.step(1, Received{NodeId{0}, bytes});
  };
  grant(2, 1, 12);
  EXPECT_EQ(job.malformed, 1) << "itself";
  grant(4, 1, 12);
  EXPECT_EQ(job.malformed, 2) << "no such node";
  grant(3, 3, 12);
  EXPECT_EQ(job.malformed, 3) << "overtaken too often";
  grant(3, 1, 8);
  EXPECT_EQ(job.malformed, 4) << "without its timestamp";
  grant(3, 1, 12);
  EXPECT_EQ(job.malformed, 4);
  EXPECT_TRUE(job.was_resumed(1));
}

TEST(LockManagerTest, MalformedRequestsAreRefused) {
  TestJob job(3);
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::LockRequest{.requester = 9});
  bytes.resize(bytes.size() + 12);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 1) << "no such requester";
  bytes.clear();
  wire::put(bytes, wire::LockRequest{.requester = 1});
  bytes.resize(bytes.size() + 8);
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 2) << "a timestamp of two nodes";
  bytes.clear();
  wire::put(bytes, wire::LockGrant{.lock = 0});
  job.step(0, Received{NodeId{1}, bytes});
  EXPECT_EQ(job.malformed, 3) << "a grant that nobody asked for";
}

TEST(LockManagerTest, ARequestForAnotherNodeIsRefused) {
  TestJob job(3);
  const auto send = [&](wire::Kind kind, std::uint32_t requester, std::uint32_t to) {
    std::vector<std::byte> bytes;
    wire::put(bytes, wire::LockRequest{.kind = kind, .requester = requester});
    bytes.resize(bytes.size() + 12);
    job.step(to, Received{NodeId{1}, bytes});
  };
  send(wire::Kind::kLockRequest, 0, 0);  // from the manager itself
  send(wire::Kind::kLockRequest, 2, 0);
  send(wire::Kind::kLockRequest, 1, 2);  // to a node that is not the manager
  send(wire::Kind::kLockForward, 1, 2);  // not from the manager
  EXPECT_EQ(job.malformed, 4);
  send(wire::Kind::kLockRequest, 1, 0);
  EXPECT_EQ(job.malformed, 4);
  send(wire::Kind::kLockRequest, 1, 0);  // the tail of the queue asks again
  EXPECT_EQ(job.malformed, 5);
}

TEST(LockManagerTest, AGrantThatTellsOfIntervalsOfOurOwnIsRefused) {
  TestJob job(2);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  std::vector<std::byte> bytes;
  std::vector<std::byte> notices;
  wire::NoticeWriter(notices).entry(1, 0, 1);
  wire::put(bytes,
            wire::LockGrant{.lock = 0, .notice_bytes = static_cast<std::uint32_t>(notices.size())});
  put_bytes(bytes, notices);
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1);
  EXPECT_FALSE(job.was_resumed(1));
}

// Node 1 holds lock 0, and has fetched block 7 of node 0 and block 8 of node 2 under it.
void take_and_want(TestJob& job) {
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(1));
  std::vector<wire::WantedBlock> wanted{{.block = 7, .home = 0}, {.block = 8, .home = 2}};
  job.step(1, Learn{{}, false, LockId{0}, &wanted});
}

TEST(LockManagerTest, AGrantCarriesWhatItsReceiverWantsAndItsSenderIsTheHomeOf) {
  TestJob job(3);
  take_and_want(job);
  job.step(0, LockAcquire{LockId{0}, WaiterId{2}});
  job.deliver_all();
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[2].value, static_cast<std::uint64_t>(Acquired::kRemote));
  job.resumed.clear();
  job.step(1, LockAcquire{LockId{0}, WaiterId{3}, 41});
  job.deliver_all();
  job.step(0, LockRelease{LockId{0}, WaiterId{2}});
  job.deliver_all();
  ASSERT_TRUE(job.was_resumed(3));
  EXPECT_EQ(job.resumed[3].value, static_cast<std::uint64_t>(Acquired::kWithBlocks));
  Bytes payload(job.resumed[3].payload);
  GrantHead head{};
  ASSERT_TRUE(wire::take(payload, head));
  EXPECT_EQ(head.activity, 41u) << "as it was when the token was asked for";
  payload = payload.subspan(head.notice_bytes);
  wire::GrantedBlock granted;
  ASSERT_TRUE(wire::take(payload, granted));
  EXPECT_EQ(granted.block, 7u);
  EXPECT_EQ(payload.size(), granted.bytes) << "block 8 is at another home";
  EXPECT_EQ(job.malformed, 0);
}

TEST(LockManagerTest, AGrantFromRestCarriesBlocksToo) {
  TestJob job(3);
  take_and_want(job);
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  job.step(0, LockAcquire{LockId{0}, WaiterId{2}});
  job.deliver_all();
  job.step(0, LockRelease{LockId{0}, WaiterId{2}});
  job.step(1, LockAcquire{LockId{0}, WaiterId{3}});
  job.deliver_all();
  EXPECT_EQ(job.resumed[3].value, static_cast<std::uint64_t>(Acquired::kWithBlocks));
}

TEST(LockManagerTest, WantsThatCannotBeAreRefused) {
  TestJob job(3);
  const auto ask = [&](std::uint8_t count, wire::WantedBlock wanted, int put) {
    std::vector<std::byte> bytes;
    wire::put(bytes, wire::LockRequest{.wanted = count, .requester = 1});
    for (int i = 0; i < put; ++i) wire::put(bytes, wanted);
    bytes.resize(bytes.size() + 12);
    job.step(0, Received{NodeId{1}, bytes});
  };
  ask(1, {.block = 1024, .home = 0}, 1);
  EXPECT_EQ(job.malformed, 1) << "outside the space";
  ask(1, {.block = 1, .home = 3}, 1);
  EXPECT_EQ(job.malformed, 2) << "no such node";
  ask(wire::kMostWanted + 1, {}, wire::kMostWanted + 1);
  EXPECT_EQ(job.malformed, 3) << "too many";
  ask(2, {}, 1);
  EXPECT_EQ(job.malformed, 4) << "fewer than it says";
  ask(1, {}, 1);
  EXPECT_EQ(job.malformed, 4);
}

TEST(LockManagerTest, GrantedBlocksThatNobodyWantedAreRefused) {
  TestJob job(3);
  take_and_want(job);
  job.step(2, LockAcquire{LockId{0}, WaiterId{2}});
  job.deliver_all();
  job.step(1, LockRelease{LockId{0}, WaiterId{1}});
  job.step(1, LockAcquire{LockId{0}, WaiterId{3}});
  const auto grant = [&](std::uint64_t block, std::uint32_t home, int times, std::size_t less) {
    std::vector<std::byte> bytes;
    wire::put(bytes, wire::LockGrant{.lock = 0});
    for (int i = 0; i < times; ++i) TestJob::put_granted(bytes, home, block);
    bytes.resize(bytes.size() - less);
    job.step(1, Received{NodeId{2}, bytes});
  };
  grant(9, 2, 1, 0);
  EXPECT_EQ(job.malformed, 1) << "a block that was not wanted";
  grant(7, 0, 1, 0);
  EXPECT_EQ(job.malformed, 2) << "not from its home";
  grant(8, 2, 1, 1);
  EXPECT_EQ(job.malformed, 3) << "a byte is missing";
  grant(8, 2, 3, 0);
  EXPECT_EQ(job.malformed, 4) << "more than were wanted";
  EXPECT_FALSE(job.was_resumed(3));
  grant(8, 2, 1, 0);
  EXPECT_EQ(job.malformed, 4);
  EXPECT_EQ(job.resumed[3].value, static_cast<std::uint64_t>(Acquired::kWithBlocks));
}

TEST(LockManagerTest, ANoticeSetThatIsLongerThanItsGrantIsRefused) {
  TestJob job(2);
  job.step(1, LockAcquire{LockId{0}, WaiterId{1}});
  std::vector<std::byte> bytes;
  wire::put(bytes, wire::LockGrant{.lock = 0, .notice_bytes = 8});
  job.step(1, Received{NodeId{0}, bytes});
  EXPECT_EQ(job.malformed, 1);
}

}  // namespace
}  // namespace terrane::protocol
