#include "platform/cgroup_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace terrane::platform {
namespace {

class CgroupMemoryTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(top_ + file).parent_path());
    std::ofstream(top_ + file) << text;
  }

  base::TestFolder folder_;
  const std::string& top_ = folder_.path();
};

TEST_F(CgroupMemoryTest, TheTightestGroupOnTheWayUpCounts) {
  write("/memory.max", "1000\n");
  write("/memory.current", "400\n");
  write("/a/memory.max", "max\n");
  write("/a/memory.current", "300\n");
  write("/a/b/memory.max", "800\n");
  write("/a/b/memory.current", "300\n");
  EXPECT_EQ(tightest_cgroup(top_, "/a/b").left_bytes, 500u);
  EXPECT_EQ(tightest_cgroup(top_, "/a").left_bytes, 600u);
  EXPECT_NE(tightest_cgroup(top_, "/a").id, tightest_cgroup(top_, "/a/b").id);
  EXPECT_EQ(tightest_cgroup(top_, "/a").id, tightest_cgroup(top_, "").id);
}

TEST_F(CgroupMemoryTest, WhatCanBeReclaimedIsLeft) {
  write("/memory.limit_in_bytes", "1000\n");
  write("/memory.usage_in_bytes", "900\n");
  write("/memory.stat", "cache 500\ntotal_inactive_file 300\n");
  EXPECT_EQ(tightest_cgroup(top_, "").left_bytes, 400u);
  write("/memory.usage_in_bytes", "2000\n");
  EXPECT_EQ(tightest_cgroup(top_, "").left_bytes, 0u);
}

TEST_F(CgroupMemoryTest, WithoutFilesThereIsNoLimit) {
  EXPECT_EQ(tightest_cgroup(top_, "/a/b").left_bytes, ~0ull);
}

}  // namespace
}  // namespace terrane::platform
