#include "runtime/chunks/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/chunks/chunk_memory.h"

namespace terrane::runtime::chunks {
namespace {

// Two nodes of a host in one process: each has a pool, and reaches the other's.
class BufferPoolTest : public testing::Test {
 protected:
  BufferPoolTest() {
    for (std::uint32_t n = 0; n < 2; ++n) {
      auto made = BufferPool::create({.on_host = {NodeId{0}, NodeId{1}},
                                      .self = NodeId{n},
                                      .region_bytes = 64 << 20,
                                      .keep_bytes = 1 << 20});
      EXPECT_TRUE(made.ok());
      pools[n] = std::move(made).value();
    }
    for (auto& pool : pools)
      pool->connect([this](NodeId node) {
        return std::span(pools[node.value]->base(), pools[node.value]->bytes());
      });
  }
  // As a message does.
  BufferRef pass(const BufferRef& buffer, std::uint32_t from, std::uint32_t to) {
    pools[from]->lend(*buffer, NodeId{to});
    return pools[to]->borrow(buffer->node(), buffer->number(), buffer->offset(), buffer->bytes());
  }
  BufferRef make(std::uint64_t bytes, bool zeroed = false) {
    auto made = pools[0]->allocate(bytes, zeroed);
    EXPECT_TRUE(made.ok());
    return made ? made.value() : nullptr;
  }
  std::unique_ptr<BufferPool> pools[2];
};

TEST_F(BufferPoolTest, BuffersOfAllSizesDoNotOverlap) {
  std::vector<BufferRef> all;
  for (std::uint64_t bytes : {1u, 63u, 64u, 65u, 200u, 256u, 257u, 4000u, 4096u, 5000u, 100'000u,
                              1u << 20, (1u << 20) + 1})
    for (int i = 0; i < 3; ++i) {
      all.push_back(make(bytes));
      std::memset(all.back()->data(), static_cast<int>(all.size()), bytes);
    }
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(all[i]->data()[0]), i + 1);
    EXPECT_EQ(static_cast<std::size_t>(all[i]->data()[all[i]->bytes() - 1]), i + 1);
  }
}

TEST_F(BufferPoolTest, WhatNobodyHoldsIsUsedAgain) {
  BufferRef one = make(100'000);
  std::byte* data = one->data();
  std::memset(data, 7, 100'000);
  one.reset();
  BufferRef two = make(99'000, true);
  EXPECT_EQ(two->data(), data);
  EXPECT_EQ(two->data()[98'999], std::byte{0}) << "zeroed where it was asked for";
  std::uint64_t resident = pools[0]->resident_bytes();
  for (int i = 0; i < 50; ++i) make(3 << 20);
  EXPECT_LE(pools[0]->resident_bytes(), resident + (1 << 20)) << "memory goes back to the machine";
}

TEST_F(BufferPoolTest, LargeBuffersBeginAtLargePages) {
  make(100);
  for (std::uint64_t bytes : {std::uint64_t{2} << 20, (std::uint64_t{2} << 20) + 1}) {
    BufferRef buffer = make(bytes);
    EXPECT_EQ(buffer->offset() % platform::kLargePage, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % platform::kLargePage, 0u);
  }
  EXPECT_NE(make(5000)->offset() % platform::kLargePage, 0u);
}

TEST_F(BufferPoolTest, AnotherNodeLooksAtTheSameBytesAndKeepsThem) {
  BufferRef mine = make(5000);
  EXPECT_TRUE(mine->is_sole());
  BufferRef theirs = pass(mine, 0, 1);
  ASSERT_NE(theirs, nullptr);
  EXPECT_FALSE(mine->is_sole());
  mine->data()[17] = std::byte{5};
  EXPECT_EQ(theirs->data()[17], std::byte{5});
  std::byte* data = mine->data();
  mine.reset();
  EXPECT_NE(make(5000)->data(), data) << "it is held";
  BufferRef back = pass(theirs, 1, 0);
  theirs.reset();
  EXPECT_TRUE(back->is_sole());
  back.reset();
  pools[0]->sweep();
  std::vector<BufferRef> two{make(5000), make(5000)};
  EXPECT_NE(two[0]->data(), two[1]->data()) << "nothing is free twice";
  EXPECT_TRUE(two[0]->data() == data || two[1]->data() == data);
}

TEST_F(BufferPoolTest, WhatTheDeadHeldIsFree) {
  BufferRef mine = make(5000);
  std::byte* data = mine->data();
  BufferRef theirs = pass(mine, 0, 1);
  mine.reset();
  pools[0]->bury(NodeId{1});
  pools[0]->sweep();
  EXPECT_EQ(make(5000)->data(), data);
  static BufferRef* died = new BufferRef(theirs);  // with its node: nobody lets it go
  EXPECT_NE(*died, nullptr);
}

TEST_F(BufferPoolTest, WhatCannotBeIsNotBorrowed) {
  BufferRef mine = make(5000);
  std::uint64_t offset = mine->offset();
  EXPECT_EQ(pools[1]->borrow(NodeId{2}, 0, offset, 5000), nullptr);
  EXPECT_EQ(pools[1]->borrow(NodeId{0}, ~0u, offset, 5000), nullptr);
  EXPECT_EQ(pools[1]->borrow(NodeId{0}, 0, 0, 5000), nullptr);
  EXPECT_EQ(pools[1]->borrow(NodeId{0}, 0, offset, pools[0]->bytes()), nullptr);
  EXPECT_EQ(pools[1]->borrow(NodeId{0}, 0, ~0ull - 4, 8), nullptr);
  EXPECT_EQ(pools[0]->borrow(NodeId{0}, 99, offset, 5000), nullptr);
  EXPECT_FALSE(pools[0]->allocate(1ull << 40, false).ok());
  auto too_much = pools[0]->allocate(65 << 20, false);
  ASSERT_FALSE(too_much.ok());
  EXPECT_NE(too_much.error().message.find("used up"), std::string::npos);
}

TEST_F(BufferPoolTest, WhoWritesHasItAlone) {
  ChunkMemory memory(*pools[0]);
  ChunkId chunk{3};
  Place a{0}, b{1};
  memory.provide(chunk, a, 8);
  EXPECT_EQ(memory.look(chunk, a).value()->data()[0], std::byte{0});
  memory.alias(chunk, a, b);
  BufferRef before = memory.look(chunk, b).value();
  EXPECT_EQ(before, memory.look(chunk, a).value()) << "nothing is copied to look at it";
  auto written = memory.open(chunk, b, ChunkMemory::Old::kKeep, true);
  EXPECT_NE(written.value(), before);
  written.value()->data()[0] = std::byte{9};
  EXPECT_EQ(memory.look(chunk, a).value()->data()[0], std::byte{0});
  before.reset();
  std::byte* data = written.value()->data();
  written = BufferRef();
  EXPECT_EQ(memory.open(chunk, b, ChunkMemory::Old::kKeep, true).value()->data(), data)
      << "who is alone stays where it is";
  memory.discard(chunk, a);
  memory.provide(chunk, a, 8);
  ASSERT_TRUE(memory.fill(chunk, a, std::as_bytes(std::span("abcdefg"))).ok());
  EXPECT_EQ(memory.look(chunk, a).value()->data()[6], std::byte{'g'});
}

}  // namespace
}  // namespace terrane::runtime::chunks
