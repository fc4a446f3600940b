#include "protocol/promises.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

TEST_F(ExpectationsTest, LetWhatIsAskedForTakeInWholeRunsAlone) {
  EXPECT_EQ(expected.alike(kHome, {95, 21}, 12), 21u);
  EXPECT_EQ(expected.alike(kHome, {95, 20}, 12), 5u);
}

TEST_F(ExpectationsTest, EndRunsWithinTheOneThatIsPromised) {
  expected.note(kHome, {116, 4}, kAfter, kDepartures);
  expected.note(kOther, {100, 16}, kAfter, kDepartures);
  expected.note(kHome, {98, 18}, 12, kDepartures);  // from departure 13 on
  EXPECT_EQ(expected.alike(kHome, {100, 20}, 12), 16u);
  EXPECT_TRUE(expected.covers(kHome, {100, 16}, 12));
  EXPECT_FALSE(expected.covers(kHome, {98, 18}, 12));
  EXPECT_TRUE(expected.covers(kHome, {98, 18}, 17));
  EXPECT_TRUE(expected.covers(kHome, {116, 4}, 15));
  EXPECT_TRUE(expected.covers(kOther, {100, 16}, 15));
}

TEST_F(ExpectationsTest, ForgetWhatAHomeCannotSendAnyMore) {
  expected.note(kHome, {200, 4}, kAfter, kDepartures);
  expected.give_up(kHome, {104, 2});
  EXPECT_FALSE(expected.covers(kHome, {100, 4}, 12));
  EXPECT_TRUE(expected.covers(kHome, {200, 4}, 12));
}

class PromisesTest : public testing::Test {
 protected:
  // What is due to whom at the departure.
  std::vector<std::pair<NodeId, BlockRange>> due(std::uint32_t number) const {
    std::vector<std::pair<NodeId, BlockRange>> all;
    for (std::size_t slot = 0; slot < Promises::kSlots; ++slot) {
      NodeId reader;
      BlockRange run;
      if (promises.due(slot, number, reader, run)) all.emplace_back(reader, run);
    }
    return all;
  }
  void depart(std::uint32_t number) {
    promises.depart(number);
    promises.keep();
  }
  using Due = std::vector<std::pair<NodeId, BlockRange>>;

  Promises promises{kDepartures};
};

TEST_F(PromisesTest, AreDueForSomeDeparturesAfterTheyAreMade) {
  depart(1);
  EXPECT_EQ(promises.make(kOther, {100, 16}), 1u + 1);
  EXPECT_EQ(due(2), (Due{{kOther, {100, 16}}}));
  EXPECT_EQ(due(1 + kDepartures), (Due{{kOther, {100, 16}}}));
  EXPECT_EQ(due(2 + kDepartures), Due{});
}

TEST_F(PromisesTest, ALongerRunEndsThoseWithinIt) {
  depart(1);
  promises.make(kOther, {100, 2});
  promises.make(kOther, {102, 2});
  promises.make(kOther, {104, 4});
  promises.make(kHome, {100, 2});
  depart(2);
  EXPECT_EQ(promises.make(kOther, {100, 5}), 2u + 1);
  // Departure 2 may be under way yet.
  EXPECT_EQ(due(2).size(), 5u);
  EXPECT_EQ(due(3), (Due{{kOther, {104, 4}}, {kHome, {100, 2}}, {kOther, {100, 5}}}));
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
