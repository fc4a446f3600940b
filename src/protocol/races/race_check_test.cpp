#include "protocol/races/race_check.h"

#include <gtest/gtest.h>

#include <array>

namespace terrane::protocol {
namespace {

constexpr std::uint64_t kBlock = 7;
constexpr std::size_t kBytes = 128;
using Known = std::array<std::uint32_t, 3>;

struct Sink : RaceSink {
  void found(const Race& race) override { races.push_back(race); }
  std::vector<Race> races;
};

// The home of one block on node 0, with its page and twin.
class RaceCheckTest : public testing::Test {
 protected:
  static ByteMask mask_of(ByteRange bytes) {
    ByteMask mask(kBytes / 64);
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i)
      mask[i / 64] |= std::uint64_t{1} << i % 64;
    return mask;
  }
  // Node `node`, which knows these intervals, stores `value` at a home.
  void arrive(std::uint32_t node, const Known& known, ByteRange bytes, std::uint8_t value) {
    std::array<std::byte, kBytes> now{};
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i) now[i] = std::byte{value};
    check_.arrives(kBlock, {NodeId{node}, known}, mask_of(bytes), now.data(), page_.data(),
                   twin_.data());
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i) page_[i] = twin_[i] = now[i];
  }
  // A thread of the home stores; compare() finds it.
  void store(ByteRange bytes, std::uint8_t value) {
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i) page_[i] = std::byte{value};
  }
  std::uint64_t compare(const Known& known) {
    return check_.compare(kBlock, {NodeId{0}, known}, page_.data(), twin_.data());
  }
  const std::vector<Race>& races() const { return sink_.races; }

  Sink sink_;
  RaceCheck check_{NodeId{0}, 3, kBytes, sink_};
  std::array<std::byte, kBytes> page_{}, twin_{};
};

TEST_F(RaceCheckTest, WritersThatDoNotKnowEachOtherRace) {
  arrive(1, {0, 0, 0}, {8, 4}, 1);
  arrive(2, {0, 0, 0}, {10, 4}, 2);
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].block, kBlock);
  EXPECT_EQ(races()[0].bytes, (ByteRange{10, 2}));
  EXPECT_EQ(races()[0].earlier, (Change{NodeId{1}, 1}));
  EXPECT_EQ(races()[0].later, (Change{NodeId{2}, 1}));
  EXPECT_FALSE(races()[0].same_value);
}

TEST_F(RaceCheckTest, WhoKnowsTheIntervalComesAfterIt) {
  arrive(1, {0, 4, 0}, {8, 4}, 1);
  arrive(2, {0, 5, 0}, {8, 4}, 2);
  EXPECT_TRUE(races().empty());
  arrive(1, {0, 5, 0}, {8, 4}, 3);  // node 1 does not know of node 2's
  EXPECT_EQ(races().size(), 1u);
}

TEST_F(RaceCheckTest, OneNodeNeverRacesWithItself) {
  arrive(1, {0, 0, 0}, {0, 8}, 1);
  arrive(1, {0, 0, 0}, {0, 8}, 2);
  store({8, 8}, 1);
  EXPECT_EQ(compare({0, 0, 0}), 8u);
  store({8, 8}, 2);
  EXPECT_EQ(compare({1, 0, 0}), 8u);
  EXPECT_TRUE(races().empty());
}

TEST_F(RaceCheckTest, AdjacentBytesAreNoRace) {
  arrive(1, {0, 0, 0}, {8, 4}, 1);
  arrive(2, {0, 0, 0}, {12, 4}, 1);
  arrive(2, {0, 0, 0}, {4, 4}, 1);
  EXPECT_TRUE(races().empty());
}

TEST_F(RaceCheckTest, TheHomesOwnChangesCount) {
  store({8, 4}, 1);
  EXPECT_EQ(compare({0, 0, 0}), 4u);
  EXPECT_EQ(compare({1, 0, 0}), 0u);  // the twin has followed
  arrive(1, {0, 0, 0}, {8, 1}, 2);
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].earlier.node, NodeId{0});
  store({8, 1}, 3);
  compare({1, 0, 0});
  ASSERT_EQ(races().size(), 2u);
  EXPECT_EQ(races()[1].earlier.node, NodeId{1});
  store({8, 1}, 4);
  compare({2, 1, 0});
  EXPECT_EQ(races().size(), 2u);
}

TEST_F(RaceCheckTest, ADifferenceHidesNothingThatTheHomeHasJustChanged) {
  store({8, 4}, 1);
  arrive(1, {9, 0, 0}, {8, 4}, 2);  // no node can know an interval that is not closed
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].earlier.node, NodeId{0});
  EXPECT_EQ(races()[0].later.node, NodeId{1});
  EXPECT_EQ(compare({9, 0, 0}), 0u);
}

TEST_F(RaceCheckTest, EqualValuesAreToldApartByWords) {
  arrive(1, {0, 0, 0}, {0, 16}, 5);
  arrive(2, {0, 0, 0}, {0, 8}, 5);
  ASSERT_EQ(races().size(), 1u);
  EXPECT_TRUE(races()[0].same_value);
  // Half of a word has the same bytes: it is a race of two values all the same.
  std::array<std::byte, kBytes> now{};
  for (std::uint32_t i = 8; i < 16; ++i) now[i] = std::byte(i < 12 ? 5 : 6);
  Known known{};
  check_.arrives(kBlock, {NodeId{2}, known}, mask_of({8, 8}), now.data(), page_.data(),
                 twin_.data());
  for (std::size_t i = 1; i < races().size(); ++i) EXPECT_FALSE(races()[i].same_value);
  EXPECT_EQ(races().size(), 3u);
}

TEST_F(RaceCheckTest, NothingIsKnownOfForgottenBytes) {
  arrive(1, {0, 0, 0}, {0, 16}, 1);
  check_.forget(kBlock, {4, 8});
  arrive(2, {0, 0, 0}, {4, 8}, 2);
  EXPECT_TRUE(races().empty());
  arrive(2, {0, 0, 0}, {0, 4}, 2);
  EXPECT_EQ(races().size(), 1u);
  check_.forget({kBlock - 1, 2});
  arrive(1, {0, 0, 0}, {0, 16}, 3);
  EXPECT_EQ(races().size(), 1u);
}

// However many intervals of a node have left something in the block.
TEST_F(RaceCheckTest, OldChangesAreStillFound) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    store({i, 1}, 1);
    compare({i, 0, 0});
  }
  for (std::uint32_t i = 0; i < 100; ++i) arrive(1, {0, i, 0}, {i, 1}, 2);
  EXPECT_EQ(races().size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) arrive(2, {100, 100, i}, {i, 1}, 3);
  EXPECT_EQ(races().size(), 100u);
}

// Of changes that overlap in any way, each byte must be found with the change before.
TEST_F(RaceCheckTest, EachByteKeepsItsOwnLastChange) {
  std::array<std::uint32_t, kBytes> last{};
  std::uint32_t seed = 1;
  std::array<std::uint32_t, 3> own{};
  for (int round = 0; round < 2000; ++round) {
    seed = seed * 1664525 + 1013904223;
    std::uint32_t node = 1 + (seed >> 8) % 2;
    ByteRange bytes{(seed >> 12) % 124, 1 + (seed >> 20) % 4};
    Known known{};
    known[node] = own[node];  // and nothing of the other node
    sink_.races.clear();
    arrive(node, known, bytes, static_cast<std::uint8_t>(round | 1));
    std::array<bool, kBytes> raced{};
    for (const Race& race : races())
      for (std::uint32_t i = race.bytes.first; i < race.bytes.end(); ++i) raced[i] = true;
    for (std::uint32_t i = bytes.first; i < bytes.end(); ++i) {
      EXPECT_EQ(raced[i], last[i] != 0 && last[i] != node) << "round " << round << " byte " << i;
      last[i] = node;
    }
    ++own[node];
  }
}

}  // namespace
}  // namespace terrane::protocol
