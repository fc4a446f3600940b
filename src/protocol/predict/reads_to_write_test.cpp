#include "protocol/predict/reads_to_write.h"

#include <gtest/gtest.h>

#include <vector>

#include "protocol/predict/make_predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr std::uint64_t kPage = 3;

class ReadsToWriteTest : public testing::Test {
 protected:
  // As a thread that reads the page and then writes it, before it leaves.
  void read_and_write() {
    guesses.came(kPage, Access::kRead);
    guesses.came(kPage, Access::kWrite);
    guesses.left(kPage);
  }
  void read_alone() {
    guesses.came(kPage, Access::kRead);
    guesses.left(kPage);
  }

  std::vector<BlockHistory> history = std::vector<BlockHistory>(8);
  ReadsToWrite guesses{history.data()};
};

TEST_F(ReadsToWriteTest, TwoWritesThatFollowTheirReadsAreEnough) {
  EXPECT_FALSE(guesses.takes_to_write(kPage));
  read_and_write();
  EXPECT_FALSE(guesses.takes_to_write(kPage));
  read_and_write();
  EXPECT_TRUE(guesses.takes_to_write(kPage));
  EXPECT_FALSE(guesses.takes_to_write(kPage + 1)) << "each page for itself";
}

TEST_F(ReadsToWriteTest, AReadWithoutAWriteEndsIt) {
  for (int i = 0; i < 5; ++i) read_and_write();
  read_alone();
  EXPECT_FALSE(guesses.takes_to_write(kPage));
}

TEST_F(ReadsToWriteTest, NowAndThenAReadShowsWhetherWritesStillFollow) {
  read_and_write();
  read_and_write();
  int reads = 0;
  for (int i = 0; i < 64; ++i) reads += guesses.takes_to_write(kPage) ? 0 : 1;
  EXPECT_EQ(reads, 4);
}

TEST_F(ReadsToWriteTest, WritesWithoutAReadSayNothing) {
  for (int i = 0; i < 5; ++i) {
    guesses.came(kPage, Access::kWrite);
    guesses.left(kPage);
  }
  EXPECT_FALSE(guesses.takes_to_write(kPage));
}

TEST_F(ReadsToWriteTest, ItCanBeSwitchedOff) {
  for (const char* text : {"-take_to_write", "never"}) {
    auto prediction = parse_prediction(text);
    ASSERT_TRUE(prediction.ok());
    auto off = make_page_guesses(prediction.value(), history.data());
    for (int i = 0; i < 5; ++i) {
      off->came(kPage, Access::kRead);
      off->came(kPage, Access::kWrite);
    }
    EXPECT_FALSE(off->takes_to_write(kPage)) << text;
  }
}

}  // namespace
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
