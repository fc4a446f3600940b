#include "tools/launch/host/cpu_binding.h"

#include <gtest/gtest.h>

#include <utility>

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

std::vector<cpu_set_t> cores_of(int count) {
  std::vector<cpu_set_t> cores(static_cast<std::size_t>(count));
  for (int c = 0; c < count; ++c) {
    CPU_ZERO(&cores[static_cast<std::size_t>(c)]);
    CPU_SET(c, &cores[static_cast<std::size_t>(c)]);
  }
  return cores;
}

TEST(CpuBindingTest, NodesThatFitHaveEqualSharesOfTheirOwn) {
  for (auto [count, nodes] : {std::pair{1, 1}, {2, 2}, {7, 3}, {8, 2}, {64, 64}}) {
    std::vector<cpu_set_t> bound =
        bound_processors(Binding::kShare, cores_of(count), static_cast<std::size_t>(nodes));
    ASSERT_EQ(bound.size(), static_cast<std::size_t>(nodes));
    cpu_set_t all;
    CPU_ZERO(&all);
    int sum = 0;
    for (const cpu_set_t& share : bound) {
      EXPECT_GE(CPU_COUNT(&share), count / nodes);
      EXPECT_LE(CPU_COUNT(&share), count / nodes + 1);
      sum += CPU_COUNT(&share);
      CPU_OR(&all, &all, &share);
    }
    EXPECT_EQ(sum, count);
    EXPECT_EQ(CPU_COUNT(&all), count) << "no core is shared, and none is left over";
  }
  EXPECT_TRUE(bound_processors(Binding::kShare, cores_of(2), 3).empty());
}

TEST(CpuBindingTest, NodesAreBoundToOneCoreEachOrToNone) {
  std::vector<cpu_set_t> bound = bound_processors(Binding::kCore, cores_of(2), 3);
  ASSERT_EQ(bound.size(), 3u);
  EXPECT_TRUE(CPU_ISSET(0, &bound[2]) && CPU_COUNT(&bound[2]) == 1);
  EXPECT_TRUE(bound_processors(Binding::kNone, cores_of(2), 2).empty());
}

}  // namespace
}  // namespace terrane::tools
