#include "protocol/push/sent_pushes.h"

#include <gtest/gtest.h>

#include <string>

namespace terrane::protocol {
namespace {

constexpr std::size_t kBytes = 4;

class SentPushesTest : public testing::Test {
 protected:
  // Each call is at a new barrier exit.
  SentPushes::Sent send(std::uint64_t block, const std::string& bytes, bool whole = false) {
    return send_at(++barrier_exit_, block, bytes, whole);
  }
  SentPushes::Sent send_at(std::uint32_t barrier_exit, std::uint64_t block,
                           const std::string& bytes, bool whole = false) {
    return sent_.send(block, reinterpret_cast<const std::byte*>(bytes.data()), barrier_exit, whole);
  }

  SentPushes sent_{kBytes, 3};
  std::uint32_t barrier_exit_ = 0;
};

TEST_F(SentPushesTest, WhatIsStillTheSameGoesByTheNumberThatItCameBy) {
  SentPushes::Sent first = send(7, "abcd");
  EXPECT_FALSE(first.same);
  EXPECT_NE(first.version, 0u);
  EXPECT_FALSE(send(7, "abcd").same) << "the first may not have been taken";
  for (int i = 0; i < 3; ++i) {
    SentPushes::Sent again = send(7, "abcd");
    EXPECT_TRUE(again.same);
    EXPECT_EQ(again.version, first.version);
  }
  SentPushes::Sent other = send(7, "abce");
  EXPECT_FALSE(other.same);
  EXPECT_NE(other.version, first.version);
  SentPushes::Sent back = send(7, "abcd");
  EXPECT_FALSE(back.same) << "only the last is known";
  EXPECT_NE(back.version, first.version) << "a reader may have seen neither";
}

TEST_F(SentPushesTest, WhoAskedOrHasNotKeptWhatWasSentIsSentAllOfIt) {
  for (int i = 0; i < 2; ++i) {
    send(7, "abcd");
    send(8, "abcd");
  }
  EXPECT_TRUE(send(7, "abcd").same);
  sent_.forget({6, 2});
  EXPECT_FALSE(send(7, "abcd").same);
  EXPECT_FALSE(send(7, "abcd").same);
  EXPECT_TRUE(send(7, "abcd").same);
  EXPECT_TRUE(send(8, "abcd").same);
  EXPECT_FALSE(send(8, "abcd", true).same);
  EXPECT_TRUE(send(8, "abcd").same);
}

// If runs overlap, a reader may use either.
TEST_F(SentPushesTest, EachRunOfAnExitHasTheBytes) {
  send(7, "abcd");
  send(7, "abcd");
  SentPushes::Sent one = send_at(10, 7, "abce");
  SentPushes::Sent other = send_at(10, 7, "abce");
  EXPECT_FALSE(one.same || other.same);
  EXPECT_EQ(one.version, other.version);
  EXPECT_TRUE(send_at(11, 7, "abce").same);
  EXPECT_TRUE(send_at(11, 7, "abce").same);
  sent_.forget({7, 1});
  send_at(12, 7, "abce");
  send_at(12, 7, "abce");
  EXPECT_FALSE(send_at(13, 7, "abce").same) << "twice at one departure counts once";
}

TEST_F(SentPushesTest, AtArrivalsWhatIsTheSameGoesByItsNumberToo) {
  EXPECT_FALSE(send_at(0, 7, "abcd").same);
  EXPECT_FALSE(send_at(0, 7, "abcd").same);
  EXPECT_TRUE(send_at(0, 7, "abcd").same);
}

TEST_F(SentPushesTest, KeepsFewBlocks) {
  for (std::uint64_t block : {1, 2, 3, 1, 2, 3}) send(block, "abcd");
  for (std::uint64_t block : {1, 2, 3}) EXPECT_TRUE(send(block, "abcd").same);
  send(4, "abcd");
  send(4, "abcd");
  EXPECT_FALSE(send(1, "abcd").same) << "all were forgotten for one more";
  EXPECT_TRUE(send(4, "abcd").same);
}

TEST_F(SentPushesTest, APartGoesWithTheBytesOfWhatHasChanged) {
  std::string bytes = "aaxxbbbbcccc";
  for (const char* before : {"befo", "afte"}) {
    send(20, before);
    send(22, before);
    send(21, "bbbb");
  }
  std::uint32_t second = send(21, "bbbb").version;
  PushPart part{.head = {.blocks = 3, .number = 90, .block = 20}};
  sent_.send(part, reinterpret_cast<std::byte*>(bytes.data()), false);
  EXPECT_EQ(part.head.same, 0b010u);
  EXPECT_EQ(part.versions[1], second);
  EXPECT_EQ(part.bytes.size(), count_whole(part.head) * kBytes);
  EXPECT_EQ(bytes.substr(0, part.bytes.size()), "aaxxcccc");
  bytes = "aaxxbbbbcccc";
  PushPart again{.head = {.blocks = 3, .number = 91, .block = 20}};
  sent_.send(again, reinterpret_cast<std::byte*>(bytes.data()), false);
  EXPECT_EQ(again.head.same, 0b111u);
  EXPECT_EQ(again.versions, part.versions);
  EXPECT_TRUE(again.bytes.empty());
}

}  // namespace
}  // namespace terrane::protocol
