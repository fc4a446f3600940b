#include "protocol/races/access_check.h"

#include <gtest/gtest.h>

namespace terrane::protocol {
namespace {

AccessedBytes read_of(std::uint64_t first, std::uint32_t bytes) { return {first, bytes, 0, 1}; }
AccessedBytes write_of(std::uint64_t first, std::uint32_t bytes) { return {first, bytes, 1, 2}; }

class AccessCheckTest : public testing::Test {
 protected:
  // Node `node` closes an interval in which it knows `known`.
  void close(std::uint32_t node, std::vector<std::uint32_t> known,
             std::vector<AccessedBytes> accesses) {
    EXPECT_TRUE(logs_[node].close(NodeId{node}, known, std::move(accesses)));
  }
  std::vector<AccessRace> races() const {
    AccessCheck check;
    for (std::uint32_t n = 0; n < 3; ++n) check.add(NodeId{n}, logs_[n].intervals());
    return check.find(100);
  }

  AccessLog logs_[3] = {AccessLog(100), AccessLog(100), AccessLog(100)};
};

TEST_F(AccessCheckTest, AReadRacesWithAWriteThatDoesNotKnowIt) {
  close(1, {0, 0, 0}, {read_of(100, 8)});
  close(0, {0, 0, 0}, {write_of(104, 8)});
  std::vector<AccessRace> found = races();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 104u);
  EXPECT_EQ(found[0].bytes, 4u);
  EXPECT_EQ(found[0].times, 1u);
  EXPECT_EQ(found[0].one, (AccessOfNode{NodeId{0}, true, 2}));
  EXPECT_EQ(found[0].other, (AccessOfNode{NodeId{1}, false, 1}));
}

TEST_F(AccessCheckTest, OrderInEitherDirectionIsNoRace) {
  close(1, {0, 0, 0}, {read_of(100, 8)});
  close(0, {0, 1, 0}, {write_of(100, 8)});  // knows the read
  close(2, {1, 1, 0}, {read_of(100, 8)});   // knows the write
  EXPECT_TRUE(races().empty());
}

TEST_F(AccessCheckTest, ReadsDoNotRaceAndNeitherDoNeighbours) {
  close(1, {0, 0, 0}, {read_of(100, 8), write_of(200, 8)});
  close(0, {0, 0, 0}, {read_of(100, 8), write_of(208, 8)});
  EXPECT_TRUE(races().empty());
}

TEST_F(AccessCheckTest, EachIntervalThatRacesCounts) {
  close(1, {0, 0, 0}, {write_of(100, 4)});
  close(1, {0, 1, 0}, {write_of(100, 4)});
  close(1, {1, 2, 0}, {write_of(100, 4)});  // knows node 0's interval
  close(0, {0, 0, 0}, {write_of(100, 4)});
  std::vector<AccessRace> found = races();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].times, 1u) << "of the interval of node 0";
}

TEST_F(AccessCheckTest, ALongRangeIsComparedWithAllWithinIt) {
  close(0, {0, 0, 0}, {write_of(0, 1000)});
  close(1, {0, 0, 0}, {read_of(10, 4), read_of(900, 4), read_of(1000, 4)});
  close(2, {0, 0, 0}, {read_of(998, 4)});
  EXPECT_EQ(races().size(), 3u);
}

TEST_F(AccessCheckTest, FreedMemoryIsForgottenAndWhatHasNoRoomCounts) {
  close(0, {0, 0, 0}, {write_of(100, 4)});
  close(1, {0, 0, 0}, {write_of(100, 4)});
  logs_[0].forget([](const AccessedBytes& one) { return one.first == 100; });
  EXPECT_TRUE(races().empty());
  close(0, {1, 0, 0}, std::vector<AccessedBytes>(101, read_of(0, 1)));
  EXPECT_EQ(logs_[0].left_out(), 101u);
  EXPECT_EQ(logs_[0].intervals().size(), 1u);
}

}  // namespace
}  // namespace terrane::protocol
