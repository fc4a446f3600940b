// The model of large jobs (bench/scale): its patterns read what they must, or it ends the program.
#include <gtest/gtest.h>

#include "scale/machine.h"

namespace terrane::bench::scale {
namespace {

Result run(const char* pattern, std::uint32_t nodes) {
  auto made = make_pattern(pattern);
  return Machine(nodes, *made, Costs{}).run(6, 2);
}

TEST(ScaleTest, EveryPatternReadsWhatWasWritten) {
  for (const char* pattern : {"barrier", "stencil", "transpose", "tree", "update", "broadcast",
                              "migratory", "producer"}) {
    for (std::uint32_t nodes : {2u, 5u, 16u, 40u}) {
      Result result = run(pattern, nodes);
      EXPECT_GT(result.messages, 0) << pattern;
      EXPECT_GT(result.per_iteration, 0u) << pattern;
    }
  }
  EXPECT_EQ(make_pattern("spiral"), nullptr);
}

TEST(ScaleTest, ProgramsComputeInParallel) {
  for (const char* program : {"laplace", "ep", "bt", "sp"}) {
    double alone = static_cast<double>(make_pattern(program)->computing());
    for (std::uint32_t nodes : {2u, 7u}) {
      double together = static_cast<double>(run(program, nodes).per_iteration);
      EXPECT_GT(alone / together, 1) << program;
      EXPECT_LE(alone / together, nodes) << program;
    }
  }
}

TEST(ScaleTest, MemoryOfANodeGrowsNoFasterThanTheJob) {
  for (const char* pattern : {"stencil", "transpose"})
    EXPECT_LT(run(pattern, 64).most_memory, 2 * run(pattern, 16).most_memory) << pattern;
}

TEST(ScaleTest, TimeIsTheSameInEveryRun) {
  EXPECT_EQ(run("tree", 9).per_iteration, run("tree", 9).per_iteration);
}

}  // namespace
}  // namespace terrane::bench::scale
