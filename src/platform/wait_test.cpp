#include "platform/wait.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "platform/waiting.h"

namespace {

std::atomic<std::uint32_t> yields{0};

}  // namespace

// In place of the C library's, which tells nobody how often it was called.
extern "C" int sched_yield() noexcept {
  ++yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

namespace terrane::platform {
namespace {

// Restores what other tests expect: room for everybody.
class WaitTest : public testing::Test {
 protected:
  ~WaitTest() override {
    share_processors(1, 1);
    choose_waiting(Waiting::kAdaptive);
  }

  static std::uint32_t rounds_until_sleep() {
    Backoff backoff;
    std::uint32_t rounds = 0;
    while (backoff.pause()) ++rounds;
    EXPECT_FALSE(backoff.pause());
    return rounds;
  }
};

TEST_F(WaitTest, AWaitEndsInSleep) {
  share_processors(2, 2);
  EXPECT_GT(rounds_until_sleep(), 64u);
}

// Where it loses the processor a wait may offer it, and so may those soon afterwards.
TEST_F(WaitTest, WhoHasTheProcessorToItselfKeepsIt) {
  share_processors(2, 2);
  bool kept = false;
  for (int wait = 0; wait < 1000 && !kept; ++wait) {
    std::uint32_t before = yields;
    rounds_until_sleep();
    kept = yields == before;
  }
  EXPECT_TRUE(kept);
}

// What it lost to the kernel for a moment it has soon ceased to offer.
TEST_F(WaitTest, WhoOffersAndFindsNobodyOffersNoMore) {
  share_processors(2, 2);
  bool ceased = false;
  for (int wait = 0; wait < 1000 && !ceased; ++wait) {
    Backoff backoff;
    for (int round = 0; round < 100; ++round) backoff.pause();
    usleep(300);  // between two looks
    backoff.pause();
    std::uint32_t before = yields;
    rounds_until_sleep();
    std::uint32_t offered = yields - before;
    before = yields;
    rounds_until_sleep();
    ceased = offered > 0 && yields == before;
  }
  EXPECT_TRUE(ceased);
}

// To a thread that has to do what was left to it at once, to one that may have to soon. The waits
// spin, as one that sleeps would end early on a busy machine.
TEST_F(WaitTest, WhoOwesTheProcessorOffersIt) {
  share_processors(2, 2);
  choose_waiting(Waiting::kSpin);
  Backoff owes;
  std::uint32_t before = yields;
  for (int round = 0; round < 10; ++round) EXPECT_TRUE(owes.pause(Owed::kNow));
  EXPECT_EQ(yields - before, 10u);
  bool soon = false;
  for (int wait = 0; wait < 1000 && !soon; ++wait) {
    if (wait > 0) usleep(5'000);  // a wait that lost its processor offers it at first
    Backoff may_owe;
    before = yields;
    std::uint64_t began = 0;  // about when its time begins
    while (yields == before) {
      may_owe.pause(Owed::kSoon);
      if (!may_owe.is_short() && began == 0) began = now_ns();
    }
    soon = now_ns() - began >= 10'000;
  }
  EXPECT_TRUE(soon);
}

// At each look; or it sleeps at once, while a rival keeps what it is offered.
TEST_F(WaitTest, WhoSharesTheProcessorOffersIt) {
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

TEST_F(WaitTest, AWaitAmongTooManyThreadsEndsInSleepToo) {
  share_processors(3, 2);
  rounds_until_sleep();
}

TEST_F(WaitTest, AWaitSleepsAtOnceOrNeverWhereThatIsChosen) {
  for (std::uint32_t threads : {2u, 3u}) {
    share_processors(threads, 2);
    choose_waiting(Waiting::kSleep);
    EXPECT_EQ(rounds_until_sleep(), 0u);
    choose_waiting(Waiting::kSpin);
    Backoff backoff;
    for (std::uint64_t end = now_ns() + 20'000'000; now_ns() < end;) ASSERT_TRUE(backoff.pause());
  }
  EXPECT_EQ(waiting_named("spin"), Waiting::kSpin);
  EXPECT_EQ(waiting_named("sleep"), Waiting::kSleep);
  EXPECT_EQ(waiting_named("auto"), Waiting::kAdaptive);
  EXPECT_FALSE(waiting_named("rest"));
}

TEST_F(WaitTest, AFutexWaitEndsAtItsTimeLimit) {
  std::atomic<std::uint32_t> word{3};
  std::uint64_t before = now_ns();
  futex_wait(word, 3, 2'000'000);
  EXPECT_GE(now_ns() - before, 1'000'000u);
}

TEST_F(WaitTest, AFutexWaitReturnsAtOnceWhenTheWordDiffers) {
  std::atomic<std::uint32_t> word{3};
  futex_wait(word, 4, 0);
}

TEST_F(WaitTest, EveryWaiterSeesTheChange) {
  for (std::uint32_t threads : {1u, 100u}) {
    share_processors(threads, 2);
    std::atomic<std::uint32_t> word{0};
    std::vector<std::thread> waiters;
    for (int waiter = 0; waiter < 3; ++waiter) {
      waiters.emplace_back([&] { wait_while_equal(word, 0); });
    }
    std::this_thread::yield();
    word.store(1, std::memory_order_release);
    futex_wake_all(word);
    for (std::thread& waiter : waiters) waiter.join();
  }
}

// Its processor may be what another thread of its node needs, to do what it waits for.
TEST_F(WaitTest, WhoWaitsForItsOwnNodeKeepsNoProcessorForLong) {
  auto cpu_ns = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(used.tv_nsec);
  };
  share_processors(1, 2);
  for (std::uint64_t keeps_ns : {std::uint64_t{0}, Backoff::kBriefNs}) {
    std::atomic<std::uint32_t> word{0};
    std::uint64_t used = 0;
    std::thread waiter([&] {
      std::uint64_t before = cpu_ns();
      wait_while_equal(word, 0, keeps_ns);
      used = cpu_ns() - before;
    });
    usleep(20'000);
    word.store(1, std::memory_order_release);
    futex_wake_all(word);
    waiter.join();
    EXPECT_LT(used, 2'000'000u);
  }
}

TEST_F(WaitTest, ASleeperInAnotherProcessIsWoken) {
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* word = new (memory) std::atomic<std::uint32_t>(0);
  pid_t child = fork();
  if (child == 0) {
    while (word->load() == 0) futex_wait(*word, 0, 0);
    _exit(0);
  }
  word->store(1);
  futex_wake_all(*word);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  munmap(memory, 4096);
}

TEST_F(WaitTest, TimeDoesNotRunBackwards) {
  std::uint64_t before = now_ns();
  EXPECT_GE(now_ns(), before);
}

TEST_F(WaitTest, TheProcessorsAreThoseThatTheThreadMayUse) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ProcessorSet found = usable_processors();
  for (std::size_t cpu = 0; cpu < found.size() * 64; ++cpu)
    EXPECT_EQ((found[cpu / 64] >> (cpu % 64) & 1) != 0, CPU_ISSET(cpu, &all) != 0) << cpu;
}

}  // namespace
}  // namespace terrane::platform
