// Teams, collectives, waits and locks through the C interface.
#include "driver.h"

namespace terrane::cluster_test {
namespace {

void expect_good_with_all_sizes(const std::string& mode,
                                const std::vector<std::string>& environment = {}) {
  for (int pes : {1, 2, 4, 8}) expect_good(pes, mode, environment);
}

TEST(ShmemCollectiveTest, DataComeWhereTheyBelong) { expect_good_with_all_sizes("data"); }
TEST(ShmemCollectiveTest, DataComeWhereTheyBelongByEveryAlgorithm) {
  for (const char* algorithm : {"put", "get"}) {
    std::string choices = "TERRANE_SHMEM_ALGORITHM=sync=counter";
    for (const char* collective : {"broadcast", "fcollect", "alltoall", "reduce", "scan"})
      choices += std::string(",") + collective + "=" + algorithm;
    expect_good(4, "data", {choices});
  }
}
// PEs of one host that do not map each other's memory are as on hosts of their own.
TEST(ShmemCollectiveTest, DataComeWhereTheyBelongByANetworkAlone) {
  for (const char* mode : {"data", "empty", "kinds", "waits", "locks", "again"})
    expect_good(3, mode, {"TERRANE_TRANSPORT=ucx"});
}
TEST(ShmemCollectiveTest, NoElementsNeedNoMemory) { expect_good_with_all_sizes("empty"); }
TEST(ShmemCollectiveTest, EveryKindOfNumberIsReduced) { expect_good_with_all_sizes("kinds"); }
TEST(ShmemCollectiveTest, TeamsComeAndGo) { expect_good_with_all_sizes("teams"); }
TEST(ShmemCollectiveTest, AProgramMayBeginAgain) { expect_good_with_all_sizes("again"); }
TEST(ShmemCollectiveTest, ActiveSetsServe) { expect_good_with_all_sizes("active-sets"); }
TEST(ShmemCollectiveTest, WaitsEnd) { expect_good_with_all_sizes("waits"); }
TEST(ShmemCollectiveTest, LocksExclude) { expect_good_with_all_sizes("locks"); }
TEST(ShmemCollectiveTest, ThreadsWorkOnDifferentTeams) { expect_good_with_all_sizes("threads"); }

TEST(ShmemCollectiveBadInputTest, IsNamed) {
  expect_sentence(1, "bad-root", "shmem_long_broadcast: PE_root 1 does not exist");
  expect_sentence(1, "bad-address", "is not symmetric");
  expect_sentence(1, "bad-team", "shmem_team_sync: team is SHMEM_TEAM_INVALID");
  expect_sentence(1, "bad-comparison", "shmem_int_wait_until: the comparison 17");
  expect_sentence(1, "bad-set", "shmem_barrier: PE_start 1");
}

TEST(ShmemCollectiveTest, ContextsCountThePesOfTheirTeam) {
  expect_good_with_all_sizes("contexts");
}
TEST(ShmemCollectiveTest, CheckedCallsThatMatchPass) {
  for (const char* mode : {"data", "empty", "contexts", "teams", "active-sets", "threads", "again"})
    expect_good(4, mode, {"SHMEM_DEBUG=1"});
}

TEST(ShmemCollectiveBadInputTest, ChecksTellOfCallsThatDoNotMatch) {
  expect_sentence(2, "other-root", "root 1, ", 1, {"SHMEM_DEBUG=1"});
  expect_sentence(2, "other-call", "where PE 0 calls shmem_sync_all", 1, {"SHMEM_DEBUG=1"});
}

TEST(ShmemCollectiveBadInputTest, AWrongAlgorithmListsTheRightOnes) {
  expect_sentence(1, "kinds", "reduce has no algorithm 'fast': inline, get, put", 1,
                  {"TERRANE_SHMEM_ALGORITHM=reduce=fast"});
}

}  // namespace
}  // namespace terrane::cluster_test
