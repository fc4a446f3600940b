#include "transport/one_sided.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

namespace terrane::transport {
namespace {

constexpr NodeId kPeer{3};
constexpr std::uint64_t kBytes = 256;

// One region of one peer, which is there; and a second one that is known and cannot be reached.
class ReachedMemory final : public OneSided {
 public:
  std::byte* reach(NodeId peer, std::uint32_t region) override {
    return peer == kPeer && region == 0 ? memory.data() : nullptr;
  }
  std::uint64_t region_bytes(NodeId peer, std::uint32_t region) const override {
    return peer == kPeer && region < 2 ? kBytes : 0;
  }

  alignas(8) std::array<std::byte, kBytes> memory{};
};

template <typename T>
std::string why(const base::Result<T>& result) {
  return result ? "" : result.error().message;
}

TEST(OneSidedTest, EveryEndOfARegionIsKept) {
  ReachedMemory reached;
  std::vector<std::byte> bytes(16, std::byte{7});
  EXPECT_TRUE(reached.put(kPeer, {0, kBytes - 16}, bytes).ok());
  EXPECT_EQ(reached.memory[kBytes - 1], std::byte{7});
  EXPECT_TRUE(reached.get(kPeer, {0, kBytes}, {}).ok());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t offset : {kBytes - 15, kBytes, kMost - 15, kMost}) {
    EXPECT_FALSE(reached.put(kPeer, {0, offset}, bytes).ok()) << offset;
    EXPECT_FALSE(reached.get(kPeer, {0, offset}, bytes).ok()) << offset;
  }
}

TEST(OneSidedTest, ARefusalSaysWhichPlaceOfWhichNode) {
  ReachedMemory reached;
  std::vector<std::byte> bytes(16);
  EXPECT_EQ(why(reached.get(kPeer, {0, 250}, bytes)),
            "one-sided: 16 bytes at 250 are not in region 0 of node 3, which has 256");
  EXPECT_EQ(why(reached.get(kPeer, {1, 0}, bytes)),
            "one-sided: region 1 of node 3 cannot be reached from here");
  EXPECT_NE(why(reached.get(NodeId{4}, {0, 0}, bytes)).find("node 4"), std::string::npos);
}

TEST(OneSidedTest, AWordHasFourOrEightBytesAndIsAligned) {
  ReachedMemory reached;
  for (Atomic atomic : {Atomic{AtomicOp::kAdd, 4, 1}, Atomic{AtomicOp::kAdd, 8, 1}}) {
    for (std::uint64_t offset = 0; offset < 16; ++offset) {
      EXPECT_EQ(reached.atomic_post(kPeer, {0, offset}, atomic).ok(), offset % atomic.bytes == 0);
    }
    EXPECT_FALSE(reached.atomic_fetch(kPeer, {0, kBytes}, atomic).ok());
  }
  for (std::uint32_t bytes : {0u, 1u, 2u, 3u, 16u}) {
    EXPECT_FALSE(reached.atomic_fetch(kPeer, {0, 0}, {AtomicOp::kAdd, bytes, 1}).ok()) << bytes;
  }
}

TEST(OneSidedTest, AWordOfFourBytesLeavesItsNeighbours) {
  ReachedMemory reached;
  ASSERT_TRUE(reached.atomic_post(kPeer, {0, 4}, {AtomicOp::kAdd, 4, ~std::uint64_t{0}}).ok());
  auto before = reached.atomic_fetch(kPeer, {0, 4}, {AtomicOp::kAdd, 4, 1});
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before.value(), 0xffffffffu);
  EXPECT_EQ(reached.memory, decltype(reached.memory){}) << "it wraps round within its four bytes";
}

TEST(OneSidedTest, ACompareSwapStoresWhereTheWordIsAsExpected) {
  ReachedMemory reached;
  std::uint64_t found = 99;
  auto* into = reinterpret_cast<std::byte*>(&found);
  EXPECT_TRUE(
      reached.atomic_fetch_nbi(kPeer, {0, 8}, {AtomicOp::kCompareSwap, 8, 5, 0}, into).ok());
  EXPECT_EQ(found, 0u);
  EXPECT_TRUE(
      reached.atomic_fetch_nbi(kPeer, {0, 8}, {AtomicOp::kCompareSwap, 8, 6, 4}, into).ok());
  EXPECT_EQ(found, 5u);
  std::memcpy(&found, &reached.memory[8], sizeof found);
  EXPECT_EQ(found, 5u);
  EXPECT_FALSE(reached.atomic_post(kPeer, {0, 8}, {AtomicOp::kCompareSwap, 8, 6, 5}).ok());
}

}  // namespace
}  // namespace terrane::transport
