// Puts, gets, atomics and signals between PEs, inlined and the long way.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

// Both ways: in the program, and with every call checked in the library.
class ShmemRmaTest : public testing::TestWithParam<const char*> {
 protected:
  static void expect_moves(int pes, const char* mode) {
    expect_good(pes, mode, {std::string("SHMEM_DEBUG=") + GetParam()});
  }
};
INSTANTIATE_TEST_SUITE_P(Calls, ShmemRmaTest, testing::Values("0", "1"), [](const auto& debug) {
  return debug.param[0] == '0' ? "Inlined" : "Checked";
});

TEST_P(ShmemRmaTest, EveryTypeIsMoved) {
  for (int pes : {1, 2, 3}) expect_moves(pes, "types");
}
TEST_P(ShmemRmaTest, EverySizeIsMoved) { expect_moves(2, "sizes"); }
TEST_P(ShmemRmaTest, AtomicsLoseNothing) { expect_moves(4, "atomics"); }
TEST_P(ShmemRmaTest, WhoSeesASignalSeesItsData) { expect_moves(3, "signals"); }
TEST_P(ShmemRmaTest, ContextsAreMadeUsedAndDestroyed) { expect_moves(2, "contexts"); }
TEST_P(ShmemRmaTest, AContextCountsThePesOfItsTeam) { expect_moves(5, "team-contexts"); }
TEST_P(ShmemRmaTest, ThreadsMoveDataByTheirOwnContexts) { expect_moves(2, "threads"); }
TEST_P(ShmemRmaTest, ContextsAreGivenOnce) { expect_moves(2, "many-contexts"); }
TEST_P(ShmemRmaTest, NamesOfOtherImplementationsServe) {
  for (int pes : {1, 3}) expect_moves(pes, "extensions");
}
TEST_P(ShmemRmaTest, NoBytesNeedNoMemory) {
  for (int pes : {1, 3}) expect_moves(pes, "nothing");
  expect_good(3, "nothing", {std::string("SHMEM_DEBUG=") + GetParam(), "TERRANE_TRANSPORT=ucx"});
}
TEST_P(ShmemRmaTest, StaticsAreMovedLikeTheHeap) { expect_moves(3, "statics"); }

}  // namespace
}  // namespace terrane::cluster_test
