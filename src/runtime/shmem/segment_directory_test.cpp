#include "runtime/shmem/segment_directory.h"

#include <gtest/gtest.h>

namespace terrane::runtime::shmem {
namespace {

TEST(SegmentDirectoryTest, NothingIsSymmetricInAnEmptyOne) {
  SegmentDirectory none;
  EXPECT_FALSE(none.locate(0x1000, 1));
  EXPECT_EQ(none.at(0), nullptr);
}

TEST(SegmentDirectoryTest, AddressesAndOffsetsAnswerEachOther) {
  SegmentDirectory segments;
  segments.add({0x700000, 0x3000, 0x8000});
  segments.add({0x10000, 0x2000, 0});
  segments.add({0x40000, 0x1000, 0x4000});
  for (std::uintptr_t address : {0x10000, 0x11fff, 0x40000, 0x40fff, 0x700000, 0x702abc}) {
    auto offset = segments.locate(address, 1);
    ASSERT_TRUE(offset) << address;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segments.at(*offset)), address);
  }
  EXPECT_EQ(*segments.locate(0x701000, 8), 0x9000u);
}

TEST(SegmentDirectoryTest, GapsAndEndsAreNotSymmetric) {
  SegmentDirectory segments;
  segments.add({0x10000, 0x2000, 0x1000});
  segments.add({0x20000, 0x1000, 0x8000});
  EXPECT_FALSE(segments.locate(0xffff, 1));
  EXPECT_FALSE(segments.locate(0x12000, 1));
  EXPECT_FALSE(segments.locate(0x11fff, 2));
  EXPECT_TRUE(segments.locate(0x11fff, 1));
  EXPECT_FALSE(segments.locate(0x21000, 0));
  EXPECT_FALSE(segments.locate(0x10000, ~0ull));
  EXPECT_EQ(segments.at(0xfff), nullptr);
  EXPECT_EQ(segments.at(0x3000), nullptr);
}

}  // namespace
}  // namespace terrane::runtime::shmem
