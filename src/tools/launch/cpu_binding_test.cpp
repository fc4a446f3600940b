#include "tools/launch/cpu_binding.h"

#include <gtest/gtest.h>

namespace terrane::tools {
namespace {

TEST(CpuBindingTest, TheKernelsListsAreRead) {
  EXPECT_EQ(parse_cpu_list("0"), std::vector<int>({0}));
  EXPECT_EQ(parse_cpu_list("0-2,7"), std::vector<int>({0, 1, 2, 7}));
  for (const char* bad : {"", "x", "1-", "1,,2", "3;4", "0-99999999"}) {
    EXPECT_TRUE(parse_cpu_list(bad).empty()) << bad;
  }
}

TEST(CpuBindingTest, CoresShareNoProcessor) {
  std::vector<cpu_set_t> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  cpu_set_t all;
  CPU_ZERO(&all);
  int sum = 0;
  for (const cpu_set_t& core : cores) {
    EXPECT_GT(CPU_COUNT(&core), 0);
    sum += CPU_COUNT(&core);
    CPU_OR(&all, &all, &core);
  }
  EXPECT_EQ(sum, CPU_COUNT(&all));
}

}  // namespace
}  // namespace terrane::tools
