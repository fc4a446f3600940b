// Regions of every protocol and propagation, and atomic operations, on real processes.
#include <gtest/gtest.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

void expect_good(int nodes, const std::string& mode, std::vector<std::string> environment) {
  Launched::Options options;
  options.environment = std::move(environment);
  Launched job({kTerrane, "run", "-n", std::to_string(nodes), REGIONS_PROGRAM, mode},
               std::move(options));
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), nodes) << outcome.out << outcome.err;
}

class RegionsTest : public testing::TestWithParam<const char*> {
 protected:
  static void expect(int nodes, const std::string& mode) {
    for (const char* one_sided : {"TERRANE_ONE_SIDED=1", "TERRANE_ONE_SIDED=0"})
      expect_good(nodes, mode, {std::string("TERRANE_FAULT_SOURCE=") + GetParam(), one_sided});
  }
};
INSTANTIATE_TEST_SUITE_P(FaultSources, RegionsTest, every_fault_source(), fault_source_name);

TEST_P(RegionsTest, EveryProtocolAndPropagationKeepsTheMemory) {
  for (int nodes : {1, 3}) expect(nodes, "kinds");
}
TEST_P(RegionsTest, AtomicOperationsAreAtomicAndInOrder) {
  for (int nodes : {1, 3}) expect(nodes, "atomics");
}
TEST_P(RegionsTest, HomesComeToWhoWritesOrReadsInOrderAndToProducers) { expect(2, "order"); }
TEST_P(RegionsTest, HomesThatWereAskedForInVainComeToWhoWrites) { expect(3, "beyond"); }
TEST_P(RegionsTest, FreshMemoryIsZeroWhateverWasNotReleasedWhenItWasFreed) { expect(2, "fresh"); }
TEST_P(RegionsTest, WhatAFreedRegionSawDecidesNothingForTheNextOne) { expect(2, "history"); }
TEST_P(RegionsTest, CountersCountWhatTheirCommentsSay) { expect(2, "counters"); }
TEST_P(RegionsTest, MisuseIsTold) { expect(2, "misuse"); }

}  // namespace
}  // namespace terrane::cluster_test
