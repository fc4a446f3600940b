#include "runtime/shmem/operation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "runtime/shmem/test_world.h"

namespace terrane::runtime::shmem {
namespace {

// PE 0 of two that are on one host or on two.
class OperationTest : public testing::TestWithParam<bool> {
 protected:
  OperationTest()
      : machine_(GetParam() ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{0, 0}),
        here_(machine_, NodeId{0}),
        there_(machine_, NodeId{1}),
        context_({0, 1, 2}) {
    ::testing::GTEST_FLAG(death_test_style) = "fast";
  }

  Operation call() { return {here_, context_, {"shmem_call"}}; }
  std::byte* mine(std::uint64_t offset = 0) { return here_.heap<std::byte>(offset); }
  std::byte* theirs(std::uint64_t offset = 0) { return there_.heap<std::byte>(offset); }
  std::vector<std::byte> random_bytes(std::uint64_t bytes) {
    std::vector<std::byte> made(bytes);
    for (std::byte& one : made) one = static_cast<std::byte>(random_());
    return made;
  }

  TestMachine machine_;
  TestWorld here_, there_;
  Context context_;
  std::mt19937 random_{7};
};
INSTANTIATE_TEST_SUITE_P(Hosts, OperationTest, testing::Bool(),
                         [](const auto& where) { return where.param ? "Two" : "One"; });

TEST_P(OperationTest, PutsAndGetsMoveEveryByteAndNoOther) {
  for (std::uint64_t bytes : {0ul, 1ul, 8ul, 63ul, 4097ul, kStreamBytes + 129}) {
    for (auto completion : {Completion::kBlocking, Completion::kNonBlocking}) {
      auto source = random_bytes(bytes);
      std::vector<std::byte> back(bytes);
      theirs()[bytes] = std::byte{9};
      call().put(mine(), source.data(), bytes, 1, completion);
      call().quiet();
      EXPECT_TRUE(std::equal(source.begin(), source.end(), theirs()));
      EXPECT_EQ(theirs()[bytes], std::byte{9});
      call().get(back.data(), mine(), bytes, 1, completion);
      call().quiet();
      EXPECT_EQ(back, source);
    }
  }
}

// What a copy of blocks should do.
void copy_slowly(std::byte* to, const std::byte* from, const Strides& strides) {
  for (std::uint64_t i = 0; i < strides.count; ++i) {
    auto step = static_cast<std::ptrdiff_t>(i);
    std::memcpy(to + step * strides.to, from + step * strides.from, strides.block);
  }
}

TEST_P(OperationTest, StridedCopiesTouchTheirBlocksAlone) {
  constexpr std::uint64_t kRoom = 60000;
  for (int round = 0; round < 60; ++round) {
    std::uint64_t block = 1 + random_() % (round % 2 ? 16 : 100);
    Strides strides{static_cast<std::ptrdiff_t>(block + random_() % 3 * (random_() % 300)),
                    static_cast<std::ptrdiff_t>(block + random_() % 3 * (random_() % 300)), block,
                    random_() % 80};
    auto source = random_bytes(kRoom), before = random_bytes(kRoom);
    auto wanted = before, got = before;
    copy_slowly(wanted.data(), source.data(), strides);
    std::memcpy(theirs(), before.data(), kRoom);
    call().put_strided(mine(), source.data(), strides, 1);
    call().quiet();
    EXPECT_EQ(std::memcmp(theirs(), wanted.data(), kRoom), 0) << round;
    std::memcpy(theirs(), source.data(), kRoom);
    call().get_strided(got.data(), mine(), strides, 1);
    EXPECT_EQ(got, wanted) << round;
  }
}

TEST_P(OperationTest, UpdatesGiveTheWordAsItWas) {
  for (std::uint32_t bytes : {4u, 8u}) {
    auto* word = there_.heap<std::uint64_t>();
    struct Step {
      WordUpdate update;
      std::uint64_t before, after;
    };
    const std::array<Step, 8> steps{{{{WordOp::kFetch, bytes, 0, 0}, 12, 12},
                                     {{WordOp::kSwap, bytes, 20, 0}, 12, 20},
                                     {{WordOp::kAdd, bytes, 5, 0}, 20, 25},
                                     {{WordOp::kAnd, bytes, 24, 0}, 25, 24},
                                     {{WordOp::kOr, bytes, 3, 0}, 24, 27},
                                     {{WordOp::kXor, bytes, 1, 0}, 27, 26},
                                     {{WordOp::kCompareSwap, bytes, 1, 25}, 26, 26},
                                     {{WordOp::kCompareSwap, bytes, 1, 26}, 26, 1}}};
    *word = 12;
    for (const Step& step : steps) {
      EXPECT_EQ(call().update(mine(), step.update, 1), step.before);
      EXPECT_EQ(*word, step.after);
    }
    *word = 12;
    for (const Step& step : steps) {
      std::uint64_t was = 0;
      call().update_nbi(&was, mine(), step.update, 1);
      call().quiet();
      EXPECT_EQ(was, step.before);
    }
    call().post(mine(), {WordOp::kStore, bytes, 77, 0}, 1);
    call().quiet();
    EXPECT_EQ(*word, 77u);
  }
}

TEST_P(OperationTest, UpdatesOfManyThreadsAreNeverLost) {
  auto add = [this] {
    Context own({0, 1, 2});
    for (int i = 0; i < 5000; ++i) {
      Operation(here_, own, {"shmem_call"}).post(mine(), {WordOp::kAdd, 8, 1, 0}, 1);
    }
    Operation(here_, own, {"shmem_call"}).quiet();
  };
  std::thread first(add), second(add);
  first.join();
  second.join();
  EXPECT_EQ(*there_.heap<std::uint64_t>(), 10000u);
}

TEST_P(OperationTest, ASignalIsSeenAfterItsData) {
  std::thread reader([this] {
    std::atomic_ref<std::uint64_t> signal(*there_.heap<std::uint64_t>(4096));
    for (std::uint64_t i = 1; i <= 1000; ++i) {
      while (signal.load(std::memory_order_acquire) < i) std::this_thread::yield();
      EXPECT_EQ(*there_.heap<std::uint64_t>(i * 8192), i);
    }
  });
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    auto update = i % 2 == 0 ? SignalUpdate::kSet : SignalUpdate::kAdd;
    call().put_signal(mine(i * 8192), &i, 8, mine(4096), i % 2 == 0 ? i : 1, update, 1,
                      Completion::kBlocking);
  }
  reader.join();
  call().signal(mine(4096), 5, SignalUpdate::kAdd, 1);
  call().quiet();
  EXPECT_EQ(*there_.heap<std::uint64_t>(4096), 1005u);
}

TEST_P(OperationTest, PesAreThoseOfTheContextsTeam) {
  Context backwards({1, -1, 2});
  std::uint64_t value = 3;
  Operation(here_, backwards, {"shmem_call"}).put(mine(), &value, 8, 0, Completion::kBlocking);
  Operation(here_, backwards, {"shmem_call"}).quiet();
  EXPECT_EQ(*there_.heap<std::uint64_t>(), 3u);
  int pe = 0;
  Operation(here_, backwards, {"shmem_call"}).quiet(&pe, 1);
}

TEST_P(OperationTest, WhatIsWrongIsNamed) {
  using testing::ExitedWithCode;
  std::uint64_t local = 0;
  auto put = [this](void* dest, std::uint64_t bytes, int pe) {
    call().put(dest, mine(), bytes, pe, Completion::kBlocking);
  };
  auto ends = ExitedWithCode(70);
  EXPECT_EXIT(put(mine(), 8, 2), ends, "shmem_call: pe 2 does not exist; .* the PEs 0 to 1");
  EXPECT_EXIT(put(mine(), 8, -1), ends, "pe -1 does not exist");
  EXPECT_EXIT(put(&local, 8, 1), ends, "shmem_call: dest at 0x.* is not symmetric");
  EXPECT_EXIT(put(mine(kTestHeapBytes - 4), 8, 1), ends, "dest .* its 8 bytes reach beyond");
  EXPECT_EXIT(put(mine(), PTRDIFF_MAX, 1), ends, "dest .* reach beyond");
  EXPECT_EXIT(call().update(mine(1), {}, 1), ends, "dest .* is not aligned to its 8 bytes");
  EXPECT_EXIT(call().put_strided(mine(), mine(), {4, 8, 8, 2}, 1), ends, "dst and sst must not");
  EXPECT_EXIT(call().put_strided(mine(), mine(), {1 << 20, 8, 8, 100}, 1), ends, "reach beyond");
}

TEST(OperationTest, OperandsThatOverlapAreFoundWhereThatIsWanted) {
  TestMachine machine({0});
  TestWorld world(machine, NodeId{0});
  Context context({0, 1, 1});
  auto* memory = world.heap<std::byte>();
  Operation(world, context, {"shmem_call", true})
      .put(memory, memory + 8, 8, 0, Completion::kBlocking);
  EXPECT_EXIT(Operation(world, context, {"shmem_call", true})
                  .put(memory, memory + 7, 8, 0, Completion::kBlocking),
              testing::ExitedWithCode(70), "source .* overlaps in memory");
}

}  // namespace
}  // namespace terrane::runtime::shmem
