#include "bootstrap/node_snapshot.h"

#include <gtest/gtest.h>

#include "bootstrap/message.h"

namespace terrane::bootstrap {
namespace {

NodeSnapshot some() {
  NodeSnapshot one{.at_ns = 5, .age_ns = 4, .limit_bytes = NodeSnapshot::kNoLimit};
  one.lived_ns = 100;
  one.received_bytes = 77;
  one.chunk_wait_ns = 9;
  one.pages.push_back(
      {.page = 8, .address = 0x8000, .name = "counters", .recent = {.faults = 3}, .total = {5, 1}});
  one.locks.push_back({7, "the lock hot", {.acquires = 2, .remote = 1}, {9, 8, 7}});
  one.streams.push_back({"frames", {.written = 10, .written_bytes = 4000}, {.taken = 3}});
  return one;
}

TEST(NodeSnapshotTest, ArrivesAsItWasSent) {
  auto there = decode_snapshot(encode_snapshot(some()));
  ASSERT_TRUE(there);
  EXPECT_EQ(*there, some());
}

TEST(NodeSnapshotTest, OtherBytesAreNone) {
  std::vector<std::byte> bytes = encode_snapshot(some());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_snapshot({bytes.data(), size})) << size;
  bytes.push_back(std::byte{1});
  EXPECT_FALSE(decode_snapshot(bytes));
  std::vector<std::byte> ones(2000, std::byte{0xff});
  EXPECT_FALSE(decode_snapshot(ones));
}

TEST(NodeSnapshotTest, TheLongestFitsIntoAPacket) {
  NodeSnapshot long_one = some();
  std::string name(5000, 'x');
  long_one.pages.assign(1000, {.name = name});
  long_one.locks.assign(1000, {.name = name});
  long_one.streams.assign(1000, {.name = name});
  std::vector<std::byte> bytes = encode_snapshot(long_one);
  EXPECT_LE(bytes.size(), kMaxPacketBytes);
  auto there = decode_snapshot(bytes);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->pages.size(), NodeSnapshot::kMostListed);
  EXPECT_EQ(there->locks[0].name.size(), NodeSnapshot::kMostName);
}

TEST(NodeSnapshotTest, InterfacesOfOneProcessAddUp) {
  NodeSnapshot all = some();
  NodeSnapshot chunks{.at_ns = 6, .age_ns = 2, .versions_written = 12};
  all.add(chunks);
  EXPECT_EQ(all.at_ns, 6u);
  EXPECT_EQ(all.versions_written, 12u);
  EXPECT_EQ(all.lived_ns, 100u);
  EXPECT_EQ(all.limit_bytes, NodeSnapshot::kNoLimit);
  EXPECT_EQ(all.pages.size(), 1u);
}

}  // namespace
}  // namespace terrane::bootstrap
