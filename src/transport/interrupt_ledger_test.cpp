#include "transport/interrupt_ledger.h"

#include <gtest/gtest.h>

#include <thread>

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
  for (int i = 0; i < 300; ++i) {
    std::thread([&] {
      EXPECT_TRUE(ledger.take());
      EXPECT_FALSE(ledger.take());
    }).join();
  }
  EXPECT_TRUE(ledger.take());
}

}  // namespace
}  // namespace terrane::transport
