#include "waiting/handler_thread.h"

#include <gtest/gtest.h>

#include <semaphore>

namespace terrane::waiting {
namespace {

// A handler thread whose sleeps last until wake().
struct Fixture : testing::Test {
  void start(std::function<HandlerTurn()> turn) {
    thread.start({[this](std::uint64_t timeout_ns, std::uint64_t patience_ns) {
                    longest_ns = timeout_ns;
                    patience = patience_ns;
                    sleeps.release();
                    wakes.acquire();
                  },
                  [this] { wakes.release(); }, std::move(turn)});
  }

  std::counting_semaphore<> sleeps{0}, wakes{0};
  std::atomic<std::uint64_t> longest_ns{0}, patience{0};
  HandlerThread thread;
};

using HandlerThreadTest = Fixture;

TEST_F(HandlerThreadTest, TakesATurnWhenItIsCalledAndEndsWhenItIsStopped) {
  std::atomic<int> turns{0};
  start([&] { return ++turns, HandlerTurn{}; });
  sleeps.acquire();
  EXPECT_EQ(thread.need(), HandlerNeed::kNothing);
  thread.call();
  sleeps.acquire();
  EXPECT_EQ(turns, 1);
  EXPECT_EQ(longest_ns, kSleepNs);
  thread.stop();
  thread.stop();
}

TEST_F(HandlerThreadTest, TellsWaitingThreadsThatItIsCalledOrAwake) {
  HandlerNeed in_turn{};
  start([&] { return in_turn = thread.need(), HandlerTurn{}; });
  sleeps.acquire();
  thread.call();
  sleeps.acquire();
  EXPECT_EQ(in_turn, HandlerNeed::kNow);
  wakes.release();  // by a message
  sleeps.acquire();
  EXPECT_EQ(in_turn, HandlerNeed::kSoon);
  EXPECT_EQ(thread.need(), HandlerNeed::kNothing);
  thread.stop();
}

TEST_F(HandlerThreadTest, DoesNotSleepBeforeATurnThatIsDue) {
  std::atomic<int> turns{0};
  start([&] {
    std::uint64_t next_ns = ++turns < 3 ? 0 : 5'000'000;
    return HandlerTurn{.next_ns = next_ns};
  });
  sleeps.acquire();
  wakes.release();
  sleeps.acquire();
  EXPECT_EQ(turns, 3);
  EXPECT_EQ(longest_ns, 5'000'000u);
  thread.stop();
}

TEST_F(HandlerThreadTest, LooksByItselfAfterMessagesThatCouldWait) {
  std::atomic<bool> urgent{false};
  start([&] { return HandlerTurn{.took_any = true, .took_urgent = urgent}; });
  for (std::uint32_t wake = 0; wake < kIdleWakes; ++wake) {
    sleeps.acquire();
    EXPECT_EQ(patience, 0u);
    wakes.release();
  }
  sleeps.acquire();
  EXPECT_EQ(patience, kFirstLookNs);
  urgent = true;
  wakes.release();
  sleeps.acquire();
  EXPECT_EQ(patience, 0u);
  thread.stop();
}

}  // namespace
}  // namespace terrane::waiting
