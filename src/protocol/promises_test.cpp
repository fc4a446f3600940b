#include "protocol/promises.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

constexpr NodeId kHome{3}, kOther{4};
constexpr std::uint32_t kAfter = 10, kDepartures = 5;  // promised for 11 to 15

class ExpectationsTest : public testing::Test {
 protected:
  ExpectationsTest() { expected.note(kHome, {100, 16}, kAfter, kDepartures); }
  Expectations expected;
};

TEST_F(ExpectationsTest, CoverEveryPartOfARunThatWasPromised) {
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 11));
  EXPECT_TRUE(expected.covers(kHome, {106, 10}, 15));
  EXPECT_TRUE(expected.covers(kHome, {100, 5}, 12));
  EXPECT_FALSE(expected.covers(kHome, {99, 3}, 12));
  EXPECT_FALSE(expected.covers(kHome, {110, 7}, 12));
  EXPECT_FALSE(expected.covers(kOther, {100, 16}, 12));
  EXPECT_FALSE(expected.covers(kHome, {100, 16}, 10));
  EXPECT_FALSE(expected.covers(kHome, {100, 16}, 16));
}

TEST_F(ExpectationsTest, CutARunWhereAPromiseBeginsOrEnds) {
  EXPECT_EQ(expected.alike(kHome, {106, 16}, 12), 10u);
  EXPECT_EQ(expected.alike(kHome, {95, 16}, 12), 5u);
  EXPECT_EQ(expected.alike(kHome, {116, 16}, 12), 16u);
  EXPECT_EQ(expected.alike(kHome, {101, 4}, 12), 4u);
  EXPECT_EQ(expected.alike(kOther, {95, 16}, 12), 16u);
  EXPECT_EQ(expected.alike(kHome, {95, 16}, 16), 16u);
}

TEST_F(ExpectationsTest, ForgetWhatAHomeCannotSendAnyMore) {
  expected.note(kHome, {200, 4}, kAfter, kDepartures);
  expected.give_up(kHome, {104, 2});
  EXPECT_FALSE(expected.covers(kHome, {100, 4}, 12));
  EXPECT_TRUE(expected.covers(kHome, {200, 4}, 12));
}

TEST(NewsBoxTest, GivesThePartOfARunThatIsAskedFor) {
  NewsBox box;
  NewsBox::News news{.from = kHome, .number = 12, .run = {100, 4}, .tracked = 0b1010};
  for (int byte = 0; byte < 32; ++byte) news.bytes.push_back(static_cast<std::byte>(byte));
  ASSERT_TRUE(box.put(news));
  EXPECT_EQ(box.find(kHome, {102, 3}, 12), nullptr);
  EXPECT_EQ(box.find(kHome, {102, 2}, 13), nullptr);
  const NewsBox::News* found = box.find(kHome, {102, 2}, 12);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found->bytes_of({102, 2}, 8), std::byte{16});
  EXPECT_EQ(found->tracked_of({102, 2}), 0b10u);
  EXPECT_EQ(found->tracked_of({100, 2}), 0b10u);
}

}  // namespace
}  // namespace terrane::protocol
