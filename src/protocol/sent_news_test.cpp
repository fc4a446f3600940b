#include "protocol/sent_news.h"

#include <gtest/gtest.h>

#include <string>

namespace terrane::protocol {
namespace {

constexpr std::size_t kBytes = 4;

class SentNewsTest : public testing::Test {
 protected:
  SentNews::Sent send(std::uint64_t block, const std::string& bytes, bool whole = false) {
    return sent_.send(block, reinterpret_cast<const std::byte*>(bytes.data()), whole);
  }

  SentNews sent_{kBytes, 3};
};

TEST_F(SentNewsTest, WhatIsStillTheSameGoesByTheNumberThatItCameBy) {
  SentNews::Sent first = send(7, "abcd");
  EXPECT_FALSE(first.same);
  EXPECT_NE(first.serial, 0u);
  EXPECT_FALSE(send(7, "abcd").same) << "the first may not have been taken";
  first = send(7, "abce");
  EXPECT_FALSE(first.same);
  for (int i = 0; i < 3; ++i) {
    SentNews::Sent again = send(7, "abce");
    EXPECT_TRUE(again.same);
    EXPECT_EQ(again.serial, first.serial);
  }
  SentNews::Sent other = send(7, "abcd");
  EXPECT_FALSE(other.same);
  EXPECT_NE(other.serial, first.serial);
  SentNews::Sent back = send(7, "abce");
  EXPECT_FALSE(back.same) << "only the last is known";
  EXPECT_NE(back.serial, first.serial) << "a reader may have seen neither";
}

TEST_F(SentNewsTest, WhoAskedOrHasNotKeptWhatWasSentIsSentAllOfIt) {
  for (int i = 0; i < 2; ++i) {
    send(7, "abcd");
    send(8, "abcd");
  }
  SentNews::Sent first = send(7, "abcd");
  EXPECT_TRUE(first.same);
  sent_.forget({6, 2});
  EXPECT_FALSE(send(7, "abcd").same);
  EXPECT_FALSE(send(7, "abcd").same);
  EXPECT_TRUE(send(7, "abcd").same);
  EXPECT_TRUE(send(8, "abcd").same);
  SentNews::Sent whole = send(8, "abcd", true);
  EXPECT_FALSE(whole.same);
  EXPECT_GT(whole.serial, first.serial + 1);
  EXPECT_TRUE(send(8, "abcd").same) << "by its new number";
}

TEST_F(SentNewsTest, KeepsFewBlocks) {
  for (std::uint64_t block : {1, 2, 3, 1, 2, 3}) send(block, "abcd");
  for (std::uint64_t block : {1, 2, 3}) EXPECT_TRUE(send(block, "abcd").same);
  send(4, "abcd");
  send(4, "abcd");
  EXPECT_FALSE(send(1, "abcd").same) << "all were forgotten for one more";
  EXPECT_TRUE(send(4, "abcd").same);
}

TEST_F(SentNewsTest, APartGoesWithTheBytesOfWhatHasChanged) {
  std::string bytes = "aaxxbbbbcccc";
  for (const char* before : {"before", "after it"}) {
    send(20, before);
    send(22, before);
    send(21, "bbbb");
  }
  std::uint32_t second = send(21, "bbbb").serial;
  NewsPart part{.head = {.blocks = 3, .block = 20}};
  sent_.send(part, reinterpret_cast<std::byte*>(bytes.data()), false);
  EXPECT_EQ(part.head.same, 0b010u);
  EXPECT_EQ(part.serials[1], second);
  EXPECT_EQ(part.bytes.size(), count_whole(part.head) * kBytes);
  EXPECT_EQ(bytes.substr(0, part.bytes.size()), "aaxxcccc");
  bytes = "aaxxbbbbcccc";
  NewsPart again{.head = {.blocks = 3, .block = 20}};
  sent_.send(again, reinterpret_cast<std::byte*>(bytes.data()), false);
  EXPECT_EQ(again.head.same, 0b111u);
  EXPECT_EQ(again.serials, part.serials);
  EXPECT_TRUE(again.bytes.empty());
}

}  // namespace
}  // namespace terrane::protocol
