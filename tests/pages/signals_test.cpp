// Programs with signals, small stacks and children of their own, with every fault source.
#include <gtest/gtest.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

class ProgramsTest : public testing::TestWithParam<const char*> {
 protected:
  static Outcome run_mode(const std::string& mode) {
    Launched::Options options;
    options.environment = {std::string("TERRANE_FAULT_SOURCE=") + GetParam()};
    Outcome outcome =
        Launched({kTerrane, "run", "-n", "2", SIGNALS_PROGRAM, mode}, std::move(options)).finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.err;
    return outcome;
  }
  static void expect_good(const std::string& mode) {
    Outcome outcome = run_mode(mode);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "good\ngood\n") << outcome.err;
  }
};
INSTANTIATE_TEST_SUITE_P(FaultSources, ProgramsTest, every_fault_source(), fault_source_name);

TEST_P(ProgramsTest, MayBlockEverySignal) { expect_good("everything_blocked"); }
TEST_P(ProgramsTest, MayUseSharedMemoryInHandlers) { expect_good("handlers_that_fault"); }
TEST_P(ProgramsTest, MayHaveSmallStacks) { expect_good("small_stacks"); }
TEST_P(ProgramsTest, MayKeepNamesOfThreadsInSharedMemory) { expect_good("names_of_threads"); }
TEST_P(ProgramsTest, MayHaveASignalStackOfTheirOwn) { expect_good("own_signal_stack"); }
TEST_P(ProgramsTest, MayCancelAThreadInACallOnSharedMemory) { expect_good("cancelled_in_a_call"); }
TEST_P(ProgramsTest, MayHandleFaultsOfTheirOwn) { expect_good("own_handlers"); }
TEST_P(ProgramsTest, MayInstallHandlersPastTheLibrary) { expect_good("displaced_handlers"); }
TEST_P(ProgramsTest, MayHaveChildrenWhileFaultsGoOn) { expect_good("children"); }
TEST_P(ProgramsTest, AreToldWhenAChildCalls) { expect_good("child_calls"); }

TEST_P(ProgramsTest, AreToldWhenAChildTouchesSharedMemory) {
  Outcome outcome = run_mode("child_touches");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("in a child process"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("it reads"), std::string::npos) << outcome.err;
}

TEST_P(ProgramsTest, DieOfTheirOwnMistakesByTheirSignal) {
  Outcome outcome = run_mode("own_mistake");
  EXPECT_EQ(outcome.exit_code, 128 + SIGSEGV) << outcome.err;
  EXPECT_NE(outcome.err.find("node 1"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace terrane::cluster_test
