#include "protocol/push/push_tree.h"

#include <gtest/gtest.h>

#include <map>

namespace terrane::protocol {
namespace {

using Nodes = std::vector<NodeId>;

Nodes readers(std::uint32_t count) {
  Nodes all;
  for (std::uint32_t n = 1; n <= count; ++n) all.emplace_back(n);
  return all;
}

// Plays all receivers: counts what each receives. Result: the greatest depth.
int play(const Nodes& to, std::map<std::uint32_t, int>& received, int depth = 1) {
  int deepest = depth;
  std::size_t branches = count_branches(to, kPushArity);
  EXPECT_LE(branches, kPushArity);
  for (std::size_t i = 0; i < branches; ++i) {
    Branch branch = branch_of(to, branches, i);
    ++received[branch.to.value];
    Nodes left(branch.further.begin(), branch.further.end());
    if (!left.empty()) deepest = std::max(deepest, play(left, received, depth + 1));
  }
  return deepest;
}

TEST(PushTreeTest, EveryReaderReceivesOnce) {
  for (std::uint32_t count = 1; count < 200; ++count) {
    std::map<std::uint32_t, int> received;
    play(readers(count), received);
    EXPECT_EQ(received.size(), count);
    for (const auto& [node, times] : received) EXPECT_EQ(times, 1) << node << " of " << count;
  }
}

TEST(PushTreeTest, TheWayGrowsWithTheLogarithm) {
  std::map<std::uint32_t, int> received;
  EXPECT_EQ(play(readers(4), received), 1);
  EXPECT_EQ(play(readers(20), received), 2);
  EXPECT_EQ(play(readers(84), received), 3);
  EXPECT_EQ(play(readers(1023), received), 5);
}

TEST(PushTreeTest, APartOfAMessageIsTakenAsItWasPut) {
  std::vector<std::byte> message;
  Nodes further = readers(3);
  PushPart two{.head = {.blocks = 3, .number = 7, .block = 100, .home = 5, .same = 0b10},
               .versions = {11, 12, 13}};
  put_push_head(message, two, further);
  message.resize(message.size() + 16, std::byte{9});
  put_push_head(message, {.head = {.gone = 1, .block = 200}}, {});
  Bytes rest = message;
  PushPart part;
  ASSERT_TRUE(take_push_part(rest, 8, part));
  EXPECT_EQ(part.head.block, 100u);
  EXPECT_EQ(part.head.home, 5u);
  EXPECT_EQ(part.further, further);
  EXPECT_EQ(part.versions, two.versions);
  EXPECT_EQ(part.bytes.size(), 16u);
  EXPECT_EQ(part.bytes.back(), std::byte{9});
  ASSERT_TRUE(take_push_part(rest, 8, part));
  EXPECT_TRUE(part.further.empty() && part.versions.empty() && part.bytes.empty() && rest.empty());
  for (std::size_t size = 0; size < sizeof(wire::PagePush) + 12 + 12 + 16; ++size) {
    Bytes cut = Bytes(message).first(size);
    EXPECT_FALSE(take_push_part(cut, 8, part)) << size;
  }
}

}  // namespace
}  // namespace terrane::protocol
