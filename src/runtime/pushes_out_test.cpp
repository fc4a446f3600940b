#include "runtime/pushes_out.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace terrane::runtime {
namespace {

constexpr std::size_t kPage = 4096;

class PushesOutTest : public testing::Test {
 protected:
  void add(NodeId to, std::uint64_t block, std::uint8_t blocks) {
    std::vector<std::byte> bytes(blocks * kPage, static_cast<std::byte>(block));
    protocol::PushPart part{.head = {.blocks = blocks, .number = 3, .block = block, .home = 1},
                            .versions = std::vector<std::uint32_t>(blocks, 9),
                            .bytes = bytes};
    out.add(part, to, {}, send);
  }
  // The first blocks of the runs of each message that was sent, in their order; and forgets them.
  std::vector<std::vector<std::uint64_t>> take_sent(NodeId to) {
    std::vector<std::vector<std::uint64_t>> all;
    for (const auto& [reader, message] : std::exchange(sent, {})) {
      EXPECT_EQ(reader, to);
      EXPECT_LE(message.size(), PushesOut::kMost);
      auto& runs = all.emplace_back();
      protocol::Bytes rest(message);
      protocol::PushPart part;
      while (!rest.empty()) {
        EXPECT_TRUE(protocol::take_push_part(rest, kPage, part));
        EXPECT_EQ(part.bytes.size(), part.head.blocks * kPage);
        EXPECT_EQ(part.bytes.back(), static_cast<std::byte>(part.head.block));
        runs.push_back(part.head.block);
        if (part.bytes.empty()) break;
      }
    }
    return all;
  }

  using Sent = std::vector<std::vector<std::uint64_t>>;
  std::vector<std::pair<NodeId, std::vector<std::byte>>> sent;
  std::function<void(NodeId, protocol::Bytes)> send = [this](NodeId to, protocol::Bytes message) {
    sent.emplace_back(to, std::vector<std::byte>(message.begin(), message.end()));
  };
  PushesOut out;
};

TEST_F(PushesOutTest, ShortRunsTravelTogether) {
  for (std::uint64_t block : {10, 20, 30}) add(NodeId{2}, block, 1);
  EXPECT_TRUE(sent.empty());
  EXPECT_FALSE(out.empty());
  out.send_all(send);
  EXPECT_EQ(take_sent(NodeId{2}), (Sent{{10, 20, 30}}));
  EXPECT_TRUE(out.empty());
}

TEST_F(PushesOutTest, GoInTheirOrderAndAsSoonAsAMessageIsFull) {
  add(NodeId{2}, 10, 3);
  add(NodeId{2}, 20, 16);  // has no room beside the one before, and fills the next
  EXPECT_EQ(take_sent(NodeId{2}), (Sent{{10}, {20}}));
  for (std::uint64_t block = 30; block < 30 + 40; ++block) add(NodeId{2}, block, 1);
  out.send_all(send);
  Sent all = take_sent(NodeId{2});
  ASSERT_EQ(all.size(), 3u);
  std::uint64_t block = 30;
  for (const auto& message : all)
    for (std::uint64_t next : message) EXPECT_EQ(next, block++);
  EXPECT_EQ(block, 70u);
}

TEST_F(PushesOutTest, SixteenPagesGoTogetherInAnyRuns) {
  for (std::uint8_t blocks : {1, 2, 4, 16}) {
    for (std::uint64_t block = 0; block < 32; block += blocks) add(NodeId{2}, block, blocks);
    EXPECT_EQ(sent.size(), 2u) << "runs of " << int{blocks};
    out.send_all(send);
    EXPECT_EQ(take_sent(NodeId{2}).size(), 2u);
  }
}

TEST_F(PushesOutTest, EachReaderHasItsOwn) {
  add(NodeId{2}, 10, 1);
  add(NodeId{3}, 10, 1);
  add(NodeId{2}, 20, 1);
  out.send_all(send);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].first, NodeId{3});
  sent.pop_back();
  EXPECT_EQ(take_sent(NodeId{2}), (Sent{{10, 20}}));
}

TEST_F(PushesOutTest, NothingOfADepartureIsLeftForTheNext) {
  for (std::uint64_t block : {10, 20}) {
    add(NodeId{2}, block, 1);
    out.send_all(send);
    EXPECT_EQ(take_sent(NodeId{2}), (Sent{{block}}));
  }
}

}  // namespace
}  // namespace terrane::runtime
