#include "transport/interrupt_ledger.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

namespace terrane::transport {
namespace {

TEST(InterruptLedgerTest, NothingIsTakenBeforeAnInterrupt) {
  InterruptLedger ledger;
  EXPECT_FALSE(ledger.take());
}

TEST(InterruptLedgerTest, EachThreadTakesAnInterruptOnce) {
  InterruptLedger ledger;
  ledger.interrupt();
  ledger.interrupt();
  EXPECT_TRUE(ledger.take());
  EXPECT_FALSE(ledger.take());
  std::thread([&] {
    EXPECT_TRUE(ledger.take());
    EXPECT_FALSE(ledger.take());
  }).join();
  ledger.interrupt();
  EXPECT_TRUE(ledger.take());
}

TEST(InterruptLedgerTest, NoThreadMissesAnInterruptHoweverManyHaveComeAndGone) {
  InterruptLedger ledger;
  ledger.interrupt();
  for (int i = 0; i < 5000; ++i) {
    std::thread([&] {
      EXPECT_TRUE(ledger.take());
      EXPECT_FALSE(ledger.take());
    }).join();
  }
  EXPECT_TRUE(ledger.take());
}

TEST(InterruptLedgerTest, HundredsOfThreadsTakeAnInterruptOnceEach) {
  constexpr int kThreads = 500;
  InterruptLedger ledger;
  ledger.interrupt();
  std::barrier all_have_taken(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      EXPECT_TRUE(ledger.take());
      all_have_taken.arrive_and_wait();
      EXPECT_FALSE(ledger.take()) << "the thread would never sleep";
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace terrane::transport
