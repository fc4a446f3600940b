// Core files and locked memory, with every fault source.
#include <gtest/gtest.h>

#include "../launcher/launched.h"
#include "fault_sources.h"

namespace terrane::cluster_test {
namespace {

class MemoryTest : public testing::TestWithParam<const char*> {
 protected:
  // In a small space: where a test fails, the machine has no terabyte to give.
  static void expect_good(const std::string& mode, bool as_nobody = false) {
    Launched::Options options;
    options.environment = {std::string("TERRANE_FAULT_SOURCE=") + GetParam(), "TERRANE_SPACE=1G"};
    options.as_nobody = as_nobody;
    Outcome outcome =
        Launched({kTerrane, "run", "-n", "2", MEMORY_PROGRAM, mode}, std::move(options)).finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "good\ngood\n") << outcome.err;
  }
};
INSTANTIATE_TEST_SUITE_P(FaultSources, MemoryTest, every_fault_source(), fault_source_name);

TEST_P(MemoryTest, ACoreFileHoldsWhatIsAllocated) { expect_good("core_holds_what_is_allocated"); }
TEST_P(MemoryTest, SharedMemoryIsNotLocked) { expect_good("mlock_fails_and_nothing_else"); }
TEST_P(MemoryTest, SharedMemoryThatIsLockedAllTheSameWorks) { expect_good("mlock_by_system_call"); }
TEST_P(MemoryTest, LockingAllMemoryTakesWhatIsTouched) { expect_good("mlockall_is_bounded"); }
TEST_P(MemoryTest, MemoryMayBeLockedBeforeInit) { expect_good("locked_since_before_init"); }

TEST_P(MemoryTest, AUserWithALimitOnLockedMemoryMayAskForIt) {
  if (!is_root()) GTEST_SKIP() << "only root becomes another user";
  expect_good("mlockall_is_bounded", true);
}

}  // namespace
}  // namespace terrane::cluster_test
