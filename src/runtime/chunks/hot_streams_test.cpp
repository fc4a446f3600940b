#include "runtime/chunks/hot_streams.h"

#include <gtest/gtest.h>

namespace terrane::runtime::chunks {
namespace {

std::string name_of(ChunkId chunk) { return "chunk " + std::to_string(chunk.value); }

TEST(HotStreamsTest, CountNothingUntilTheyBegin) {
  HotStreams counts;
  counts.written(ChunkId{1}, 100);
  EXPECT_TRUE(counts.busiest(4, name_of).empty());
  counts.begin();
  counts.written(ChunkId{1}, 100);
  counts.taken(ChunkId{1}, 5000);
  auto all = counts.busiest(4, name_of);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0], (bootstrap::StreamSnapshot{"chunk 1", {1, 100, 1, 5000}, {1, 100, 1, 5000}}));
}

TEST(HotStreamsTest, TheBusiestComeFirstAndQuietOnesGo) {
  HotStreams counts;
  counts.begin();
  for (std::uint64_t chunk = 0; chunk < 10; ++chunk)
    for (std::uint64_t i = 0; i < chunk; ++i) counts.written(ChunkId{chunk}, 1);
  auto all = counts.busiest(3, name_of);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "chunk 9");
  EXPECT_EQ(all[2].name, "chunk 7");
  for (int second = 0; second < 8; ++second) counts.busiest(3, name_of);
  EXPECT_TRUE(counts.busiest(3, name_of).empty());
}

}  // namespace
}  // namespace terrane::runtime::chunks
