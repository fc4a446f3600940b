// System calls on shared memory whose pages come and go.
#include <gtest/gtest.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

class CallsTest : public testing::TestWithParam<const char*> {
 protected:
  static Outcome expect_good(int nodes, const std::string& sizes,
                             const std::string& program = CALLS_PROGRAM) {
    Launched::Options options;
    options.environment = {std::string("TERRANE_FAULT_SOURCE=") + GetParam()};
    std::vector<std::string> command{kTerrane, "run", "-n", std::to_string(nodes), program};
    for (const std::string& size : words(sizes)) command.push_back(size);
    Outcome outcome = Launched(command, std::move(options)).finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
};
INSTANTIATE_TEST_SUITE_P(FaultSources, CallsTest, every_fault_source(), fault_source_name);

TEST_P(CallsTest, WorkOnPagesThatAreNotPresent) { expect_good(2, "1 100 4096 10000"); }
TEST_P(CallsTest, WorkOnBuffersOfManyPages) { expect_good(2, "300000 1500000"); }
TEST_P(CallsTest, WorkInAJobOfOne) { expect_good(1, "5000"); }

TEST_P(CallsTest, WorkOneByOneOnAMissingPage) {
  Outcome outcome = expect_good(2, "", MORE_CALLS_PROGRAM);
  EXPECT_EQ(count(outcome.err, "syscall() on shared memory is not served"), 1) << outcome.err;
}
TEST_P(CallsTest, EndAsWithPrivateMemoryOnMissingPages) { expect_good(2, "", EACH_CALL_PROGRAM); }
TEST_P(CallsTest, WorkAsCompilersMakeThemForBuffersOfKnownSize) {
  expect_good(2, "100 10000", FORTIFIED_CALLS_PROGRAM);
  expect_good(2, "", FORTIFIED_MORE_CALLS_PROGRAM);
}

}  // namespace
}  // namespace terrane::cluster_test
