#include "tools/launch/host/limits.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

TEST(LimitsTest, TheSmallestLimitIsNamedAsTheReason) {
  EXPECT_EQ(node_limit(0, 0).nodes, 1024u);
  EXPECT_EQ(node_limit(1 << 20, 1 << 20).nodes, 1024u);
  NodeLimit files = node_limit(1024, 0);
  EXPECT_EQ(files.nodes, 87u);
  EXPECT_NE(files.reason.find("RLIMIT_NOFILE is 1024"), std::string::npos);
  NodeLimit processes = node_limit(1024, 20);
  EXPECT_EQ(processes.nodes, 17u);
  EXPECT_NE(processes.reason.find("RLIMIT_NPROC is 20"), std::string::npos);
  EXPECT_EQ(node_limit(10, 1).nodes, 1u);
}

TEST(LimitsTest, OnlyWholeNumbersWithinTheLimitAreNodes) {
  NodeLimit limit{100, "a test"};
  EXPECT_EQ(parse_nodes("1", limit).value(), 1u);
  EXPECT_EQ(parse_nodes("100", limit).value(), 100u);
  for (const char* bad : {"", "0", "-1", "101", "1e2", " 4", "4 ", "+4", "0x4", "4.0",
                          "18446744073709551617", "-18446744073709551617"}) {
    EXPECT_FALSE(parse_nodes(bad, limit).ok()) << bad;
  }
}

TEST(LimitsTest, TimeoutsAreSecondsGreaterThanZero) {
  EXPECT_EQ(parse_seconds("--timeout", "2").value(), 2000u);
  EXPECT_EQ(parse_seconds("--timeout", "0.25").value(), 250u);
  EXPECT_EQ(parse_seconds("--timeout", "0.00001").value(), 1u);
  for (const char* bad : {"", "0", "-1", "1s", "nan", "inf", "1e30"}) {
    EXPECT_FALSE(parse_seconds("--timeout", bad).ok()) << bad;
  }
}

TEST(LimitsTest, SizesHaveAUnitOrNone) {
  for (const char* good : {"1", "4096", "512M", "4G", "4GiB", "16kB", "2T"}) {
    EXPECT_TRUE(size_bytes(good).has_value()) << good;
  }
  for (const char* bad :
       {"", "0", "M", "-1", "4X", "4GG", "4Gi", "1.5G", " 4G", "99999999999999999999"}) {
    EXPECT_FALSE(size_bytes(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace terrane::tools
