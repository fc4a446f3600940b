#include "runtime/access_keeper.h"

#include <gtest/gtest.h>

#include <cstring>

namespace terrane::runtime {
namespace {

constexpr std::uint64_t flagged(std::uint64_t block, std::uint64_t flags) {
  return block << AccessKeeper::kShift | flags;
}

TEST(AccessKeeperTest, BlocksThatTwoNodesUseAndOneWritesAreShared) {
  std::vector<std::vector<std::uint64_t>> lists = {
      {flagged(1, AccessKeeper::kWritten), flagged(2, 0), flagged(3, AccessKeeper::kWritten),
       flagged(4, AccessKeeper::kWritten)},
      {flagged(1, 0), flagged(2, 0), flagged(4, AccessKeeper::kSynchronises)}};
  EXPECT_EQ(shared_blocks(lists), (std::vector<std::uint64_t>{1, 4}))
      << "2 is read alone, 3 is of one node";
}

TEST(AccessKeeperTest, WhatIsCutShortIsLeftOut) {
  struct {
    std::uint32_t interval = 7, accesses = 1, known[2] = {6, 3};
    protocol::AccessedBytes access{100, 4, 1, 0x401000};
  } sent;
  std::vector<std::byte> bytes(sizeof sent);
  std::memcpy(bytes.data(), &sent, sizeof sent);
  std::vector<protocol::AccessInterval> read = read_accesses(bytes, 2);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].interval, 7u);
  EXPECT_EQ(read[0].known, (std::vector<std::uint32_t>{6, 3}));
  ASSERT_EQ(read[0].accesses.size(), 1u);
  EXPECT_EQ(read[0].accesses[0], sent.access);
  bytes.pop_back();
  EXPECT_TRUE(read_accesses(bytes, 2).empty());
  EXPECT_TRUE(read_accesses({}, 2).empty());
}

}  // namespace
}  // namespace terrane::runtime
