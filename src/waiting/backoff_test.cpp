#include "waiting/backoff.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "platform/wait.h"
#include "waiting/mode.h"

namespace {

std::atomic<std::uint32_t> yields{0};

}  // namespace

// In place of the C library's, which tells nobody how often it was called.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace terrane::waiting {
namespace {

// Restores what other tests expect: room for everybody.
class BackoffTest : public testing::Test {
 protected:
  ~BackoffTest() override {
    share_processors(1, 1);
    choose_mode(Mode::kAdaptive);
  }

  static std::uint32_t rounds_until_sleep() {
    Backoff backoff;
    std::uint32_t rounds = 0;
    while (backoff.pause()) ++rounds;
    return rounds;
  }
};

TEST_F(BackoffTest, AWaitEndsInSleep) {
  share_processors(2, 2);
  EXPECT_GT(rounds_until_sleep(), 64u);
}

// Where it loses the processor a wait may yield, and so may those soon afterwards.
TEST_F(BackoffTest, AThreadThatHasTheProcessorToItselfKeepsIt) {
  share_processors(2, 2);
  bool kept = false;
  for (int wait = 0; wait < 1000 && !kept; ++wait) {
    std::uint32_t before = yields;
    rounds_until_sleep();
    kept = yields == before;
  }
  EXPECT_TRUE(kept);
}

// What it lost to the kernel for a moment it soon yields no longer.
TEST_F(BackoffTest, AThreadWhoseYieldsNobodyUsesYieldsNoMore) {
  share_processors(2, 2);
  bool ceased = false;
  for (int wait = 0; wait < 1000 && !ceased; ++wait) {
    Backoff backoff;
    for (int round = 0; round < 100; ++round) backoff.pause();
    usleep(300);  // between two looks
    backoff.pause();
    std::uint32_t before = yields;
    rounds_until_sleep();
    std::uint32_t yielded = yields - before;
    before = yields;
    rounds_until_sleep();
    ceased = yielded > 0 && yields == before;
  }
  EXPECT_TRUE(ceased);
}

// At once to one that was called, soon to one that is awake. The waits spin, as one that sleeps
// would end early on a busy machine.
TEST_F(BackoffTest, AThreadYieldsToItsHandlerThread) {
  share_processors(2, 2);
  choose_mode(Mode::kSpin);
  Backoff called;
  std::uint32_t before = yields;
  for (int round = 0; round < 10; ++round) EXPECT_TRUE(called.pause(HandlerNeed::kNow));
  EXPECT_EQ(yields - before, 10u);
  bool soon = false;
  for (int wait = 0; wait < 1000 && !soon; ++wait) {
    if (wait > 0) usleep(5'000);  // a wait that lost its processor yields it at first
    Backoff awake;
    before = yields;
    std::uint64_t began = 0;  // about when its time begins
    while (yields == before) {
      awake.pause(HandlerNeed::kSoon);
      if (!awake.is_short() && began == 0) began = platform::now_ns();
    }
    soon = platform::now_ns() - began >= 10'000;
  }
  EXPECT_TRUE(soon);
}

// At each look; or it sleeps at once, while a competitor keeps the processor.
TEST_F(BackoffTest, AThreadOfAnOvercommittedJobYields) {
  share_processors(3, 2);
  std::uint32_t rounds = 0;
  for (int wait = 0; wait < 1000 && rounds == 0; ++wait) {
    std::uint32_t before = yields;
    rounds = rounds_until_sleep();
    EXPECT_EQ(yields - before, rounds);
    if (rounds == 0) usleep(5'000);
  }
  EXPECT_GT(rounds, 0u);
}

TEST_F(BackoffTest, AWaitAmongTooManyThreadsEndsInSleepToo) {
  share_processors(3, 2);
  rounds_until_sleep();
}

TEST_F(BackoffTest, AWaitSleepsAtOnceOrNeverWhereThatIsChosen) {
  for (std::uint32_t threads : {2u, 3u}) {
    share_processors(threads, 2);
    choose_mode(Mode::kSleep);
    EXPECT_EQ(rounds_until_sleep(), 0u);
    choose_mode(Mode::kSpin);
    Backoff backoff;
    for (std::uint64_t end = platform::now_ns() + 20'000'000; platform::now_ns() < end;)
      ASSERT_TRUE(backoff.pause());
  }
  EXPECT_EQ(mode_named("spin"), Mode::kSpin);
  EXPECT_EQ(mode_named("sleep"), Mode::kSleep);
  EXPECT_EQ(mode_named("auto"), Mode::kAdaptive);
  EXPECT_FALSE(mode_named("rest"));
}

TEST_F(BackoffTest, EveryWaiterSeesTheChange) {
  for (std::uint32_t threads : {1u, 100u}) {
    share_processors(threads, 2);
    std::atomic<std::uint32_t> word{0};
    std::vector<std::thread> waiters;
    for (int waiter = 0; waiter < 3; ++waiter) {
      waiters.emplace_back([&] { wait_while_equal(word, 0); });
    }
    std::this_thread::yield();
    word.store(1, std::memory_order_release);
    platform::futex_wake_all(word);
    for (std::thread& waiter : waiters) waiter.join();
  }
}

// Its processor may be what another thread of its node needs, to do what it waits for.
TEST_F(BackoffTest, AWaitForTheOwnNodeKeepsNoProcessorForLong) {
  auto cpu_ns = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(used.tv_nsec);
  };
  share_processors(1, 2);
  for (std::uint64_t keeps_ns : {std::uint64_t{0}, kCrowdedNs}) {
    std::atomic<std::uint32_t> word{0};
    std::uint64_t used = 0;
    std::thread waiter([&] {
      std::uint64_t before = cpu_ns();
      wait_while_equal(word, 0, keeps_ns);
      used = cpu_ns() - before;
    });
    usleep(20'000);
    word.store(1, std::memory_order_release);
    platform::futex_wake_all(word);
    waiter.join();
    EXPECT_LT(used, 2'000'000u);
  }
}

}  // namespace
}  // namespace terrane::waiting
