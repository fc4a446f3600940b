#include "runtime/program/heap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/prng.h"
#include "runtime/program/arena.h"

namespace terrane::runtime {
namespace {

TEST(ArenaTest, BlocksFollowEachOtherWithoutAGap) {
  Arena arena;
  arena.add(1 << 20, 1 << 20);
  std::uintptr_t before = *arena.take(2080);
  for (int i = 0; i < 100; ++i) {
    std::uintptr_t next = *arena.take(2080);
    EXPECT_EQ(next, before + 2080);
    before = next;
  }
  std::uintptr_t small = *arena.take(48);
  EXPECT_EQ(*arena.take(32), small + 48);
}

TEST(ArenaTest, WhatIsGivenBackIsJoinedAndTakenAgain) {
  Arena arena;
  arena.add(1 << 20, 1 << 20);
  std::vector<std::uintptr_t> blocks;
  while (auto block = arena.take(4096)) blocks.push_back(*block);
  EXPECT_EQ(blocks.size(), 256u);
  EXPECT_EQ(arena.free_bytes(), 0u);
  EXPECT_FALSE(arena.take(16));
  for (std::size_t i = 0; i < blocks.size(); i += 2) arena.give_back(blocks[i], 4096);
  EXPECT_FALSE(arena.take(8192)) << "no two lie side by side";
  for (std::size_t i = 1; i < blocks.size(); i += 2) arena.give_back(blocks[i], 4096);
  EXPECT_EQ(*arena.take(1 << 20), std::uintptr_t{1 << 20});
}

TEST(ArenaTest, TheLastBytesServeSmallBlocks) {
  Arena arena;
  arena.add(4096, 160);
  EXPECT_TRUE(arena.take(64));
  EXPECT_TRUE(arena.take(96));
  EXPECT_FALSE(arena.take(16));
}

TEST(ArenaTest, BlocksNeverOverlap) {
  base::Prng random(7);
  Arena arena;
  arena.add(1 << 24, 4 << 20);
  std::map<std::uintptr_t, std::uint64_t> blocks;
  for (int i = 0; i < 100'000; ++i) {
    if (random.below(2) == 0 || blocks.empty()) {
      std::uint64_t most = random.below(20) == 0 ? 4000 : 100;
      std::uint64_t bytes = (1 + random.below(most)) * Arena::kGrain;
      auto at = arena.take(bytes);
      if (!at) continue;
      auto after = blocks.lower_bound(*at);
      ASSERT_TRUE(after == blocks.end() || *at + bytes <= after->first);
      if (after != blocks.begin()) {
        auto before = std::prev(after);
        ASSERT_LE(before->first + before->second, *at);
      }
      blocks.emplace(*at, bytes);
    } else {
      auto one = blocks.lower_bound((1 << 24) + random.below(4 << 20));
      if (one == blocks.end()) one = blocks.begin();
      arena.give_back(one->first, one->second);
      blocks.erase(one);
    }
  }
  for (auto [begin, bytes] : blocks) arena.give_back(begin, bytes);
  EXPECT_EQ(arena.free_bytes(), std::uint64_t{4} << 20);
}

// Nodes of one process, on its memory.
class TestMemory final : public HeapMemory {
 public:
  explicit TestMemory(std::uint32_t nodes) : mail(nodes), locks(nodes) {}
  void* take_region(std::uint64_t bytes, bool) override {
    if (most != 0 && regions + 1 > most) return nullptr;
    ++regions;
    largest = std::max(largest, bytes);
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : at;
  }
  void give_region(void*) override { ++regions_freed; }
  std::uint64_t most_bytes() const override { return most_kept; }
  HeapMail& lock_mail(std::uint32_t node) override {
    locks[node].lock();
    return mail[node];
  }
  void unlock_mail(std::uint32_t node) override { locks[node].unlock(); }

  std::vector<HeapMail> mail;
  std::vector<std::mutex> locks;
  std::atomic<int> regions = 0, regions_freed = 0;
  int most = 0;
  std::uint64_t most_kept = ~std::uint64_t{0}, largest = 0;
};

std::uintptr_t number(void* block) { return reinterpret_cast<std::uintptr_t>(block); }

TEST(HeapTest, RowsArePacked) {
  TestMemory memory(2);
  Heap heap(0, 2, memory, 0);
  auto before = number(heap.allocate(2064));
  for (int i = 0; i < 10; ++i) {
    auto next = number(heap.allocate(2064));
    EXPECT_EQ(next - before, 2064u + 16);
    before = next;
  }
}

TEST(HeapTest, BlocksAreAlignedAndOfTheirSize) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  for (std::uint64_t bytes : {0, 1, 16, 17, 1000, 5000, 100'000, 2'000'000}) {
    for (std::uint64_t alignment : {16, 64, 4096, 65536}) {
      void* block = heap.allocate(bytes, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(number(block) % alignment, 0u);
      EXPECT_GE(heap.bytes_of(block), bytes);
      std::memset(block, 0xee, bytes);
      EXPECT_TRUE(heap.free(block));
    }
  }
  EXPECT_EQ(memory.regions_freed, 4) << "the large ones are regions of their own";
}

TEST(HeapTest, ZeroedBlocksAreZerosAlsoWhereOthersWere) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  void* block = heap.allocate(5000);
  std::memset(block, 0xee, 5000);
  heap.free(block);
  auto* zeroed = static_cast<unsigned char*>(heap.allocate_zeroed(5000));
  EXPECT_EQ(zeroed, block);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(zeroed[i], 0);
}

TEST(HeapTest, AResizedBlockKeepsItsBytes) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  auto* block = static_cast<unsigned char*>(heap.allocate(100));
  for (int i = 0; i < 100; ++i) block[i] = static_cast<unsigned char>(i);
  for (std::uint64_t bytes : {200, 5'000, 3'000'000, 100}) {
    block = static_cast<unsigned char*>(heap.resize(block, bytes));
    for (int i = 0; i < 100; ++i) ASSERT_EQ(block[i], i);
  }
}

TEST(HeapTest, ALargeBlockGrowsInPlace) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  auto* block = static_cast<unsigned char*>(heap.allocate(1 << 20));
  block[7] = 7;
  auto* moved = static_cast<unsigned char*>(heap.resize(block, 2 << 20));
  EXPECT_NE(moved, block);
  for (std::uint64_t mib : {3, 5, 8}) {
    EXPECT_EQ(heap.resize(moved, mib << 20), moved) << mib;
    EXPECT_EQ(heap.bytes_of(moved), mib << 20);
    moved[(mib << 20) - 1] = 1;
  }
  EXPECT_EQ(memory.regions, 2);
  EXPECT_EQ(memory.regions_freed, 1);
  auto* again = static_cast<unsigned char*>(heap.resize(moved, 9 << 20));
  EXPECT_NE(again, moved);
  EXPECT_EQ(again[7], 7);
  EXPECT_EQ(again[(8 << 20) - 1], 1);
  EXPECT_EQ(memory.regions_freed, 2);
  EXPECT_TRUE(heap.free(again));
}

TEST(HeapTest, ABlockGetsAddressesForWhatNodesCanKeep) {
  TestMemory memory(1);
  memory.most_kept = 10 << 20;
  Heap heap(0, 1, memory, 0);
  void* block = heap.resize(heap.allocate(1 << 20), 4 << 20);
  EXPECT_EQ(heap.resize(block, 10 << 20), block);
  EXPECT_EQ(memory.largest, std::uint64_t{10 << 20} + 8192);
}

TEST(HeapTest, ABlockIsFreedOnce) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  void* block = heap.allocate(100);
  EXPECT_TRUE(heap.free(block));
  EXPECT_FALSE(heap.free(block));
}

TEST(HeapTest, WhatOtherNodesFreeComesBack) {
  TestMemory memory(2);
  Heap first(0, 2, memory, 0), second(1, 2, memory, 0);
  memory.most = 1;  // 64 MiB
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 500; ++i) {
      void* block = first.allocate(100'000);
      ASSERT_NE(block, nullptr) << "round " << round;
      blocks.push_back(block);
    }
    for (void* block : blocks) EXPECT_TRUE(second.free(block));
  }
}

TEST(HeapTest, WithoutMemoryTheAnswerIsNull) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 0);
  memory.most = 1;
  void* block = heap.allocate(100);
  EXPECT_EQ(heap.allocate(std::uint64_t{1} << 30), nullptr);
  EXPECT_EQ(heap.allocate(~std::uint64_t{0}), nullptr);
  EXPECT_EQ(heap.resize(block, std::uint64_t{1} << 40), nullptr);
  EXPECT_TRUE(heap.free(block)) << "it is still there";
}

TEST(HeapTest, ALargeBlockServesAgain) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 64 << 20);
  auto* block = static_cast<unsigned char*>(heap.allocate(8 << 20));
  std::uint64_t bytes = heap.bytes_of(block);
  block[0] = 7;
  EXPECT_TRUE(heap.free(block));
  EXPECT_FALSE(heap.free(block));
  EXPECT_EQ(heap.allocate((8 << 20) - (400 << 10)), block) << "a little smaller";
  EXPECT_EQ(heap.bytes_of(block), bytes);
  EXPECT_TRUE(heap.free(block));
  EXPECT_NE(heap.allocate(4 << 20), block) << "much smaller";
  auto* zeros = static_cast<unsigned char*>(heap.allocate_zeroed(8 << 20));
  EXPECT_NE(zeros, block);
  EXPECT_EQ(zeros[0], 0);
  EXPECT_EQ(heap.allocate(8 << 20), block);
  EXPECT_TRUE(heap.free(block));
  EXPECT_EQ(memory.regions_freed, 0);
}

TEST(HeapTest, TheOldestLargeBlocksGoWhereThereAreMany) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 20 << 20);
  void* blocks[3];
  for (void*& block : blocks) block = heap.allocate(8 << 20);
  for (void* block : blocks) EXPECT_TRUE(heap.free(block));
  EXPECT_EQ(memory.regions_freed, 1);
  EXPECT_EQ(heap.allocate(8 << 20), blocks[2]);
  EXPECT_EQ(heap.allocate(8 << 20), blocks[1]);
  EXPECT_TRUE(heap.free(heap.allocate(32 << 20))) << "more than is kept at all";
  EXPECT_EQ(memory.regions_freed, 2);
}

TEST(HeapTest, KeptBlocksGoWhereThereIsNoMemory) {
  TestMemory memory(1);
  Heap heap(0, 1, memory, 64 << 20);
  memory.most = 1;
  EXPECT_TRUE(heap.free(heap.allocate(8 << 20)));
  EXPECT_EQ(heap.allocate(16 << 20), nullptr);
  EXPECT_EQ(memory.regions_freed, 1);
}

TEST(HeapTest, ThreadsOfSeveralNodesAllocateAndFreeAtOnce) {
  constexpr std::uint32_t kNodes = 3;
  TestMemory memory(kNodes);
  std::vector<std::unique_ptr<Heap>> heaps;
  for (std::uint32_t n = 0; n < kNodes; ++n)
    heaps.push_back(std::make_unique<Heap>(n, kNodes, memory, 0));
  std::mutex mutex;
  std::vector<std::pair<unsigned char*, unsigned char>> live;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 2 * kNodes; ++t) {
    threads.emplace_back([&, t] {
      base::Prng random(t + 1);
      Heap& heap = *heaps[t % kNodes];
      for (int i = 0; i < 20'000; ++i) {
        std::uint64_t bytes = 2 + random.below(600);
        auto* block = static_cast<unsigned char*>(heap.allocate(bytes));
        std::memset(block, static_cast<int>(t + 1), bytes);
        std::pair<unsigned char*, unsigned char> other{nullptr, 0};
        {
          std::lock_guard hold(mutex);
          live.emplace_back(block, t + 1);
          std::swap(live[random.below(static_cast<std::uint32_t>(live.size()))], live.back());
          if (live.size() > 1000) {
            other = live.back();
            live.pop_back();
          }
        }
        if (other.first == nullptr) continue;
        wrong += other.first[0] != other.second || other.first[1] != other.second;
        wrong += !heap.free(other.first);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace terrane::runtime
