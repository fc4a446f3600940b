// Children that PEs make by fork, vfork, posix_spawn, popen and system.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

TEST(ShmemChildrenTest, TheyExitAndTheJobGoesOn) { expect_good(2, "exits"); }
TEST(ShmemChildrenTest, TheyMayOutliveTheirParentsPart) { expect_good(2, "lingers"); }
TEST(ShmemChildrenTest, TheyHaveNoSymmetricHeap) { expect_good(2, "writes-heap"); }
TEST(ShmemChildrenTest, ProgramsRunWhileOtherThreadsCommunicate) { expect_good(2, "of-all-kinds"); }
TEST(ShmemChildrenTest, ForksWhileOtherThreadsCommunicate) { expect_good(2, "among-threads"); }
TEST(ShmemChildrenTest, ProgramsInheritNoDescriptorOfTheJob) { expect_good(2, "inherits-nothing"); }

}  // namespace
}  // namespace terrane::cluster_test
