// OpenSHMEM over several hosts: the same programs, memory and ends as on one.
#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

class ShmemHostsTest : public OnHosts {
 protected:
  Outcome run_pes(const std::string& places, const std::string& program) {
    return job("--heartbeat 20 -H " + places, program);
  }
  void expect_good(int pes, const std::string& places, const std::string& program) {
    OnHosts::expect_good(pes, "--heartbeat 20 -H " + places, program);
  }
  void expect_sentence(const std::string& program, int code, const std::string& part) {
    Outcome outcome = run_pes("h0,h1", program);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), part.empty() ? 0 : 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
};

const std::string kSetup = SETUP_PROGRAM " ", kMemory = MEMORY_PROGRAM " ",
                  kStatics = STATICS_PROGRAM " ", kRma = RMA_PROGRAM " ",
                  kChildren = CHILDREN_PROGRAM " ", kReport = REPORT_PROGRAM " ";

TEST_F(ShmemHostsTest, PesOfTwoHostsJoinAndLeave) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"join", "threads", "again", "start-pes"}) {
    expect_good(2, "h0,h1", kSetup + mode);
    expect_good(4, "h0:2,h1:2", kSetup + mode);
  }
}

TEST_F(ShmemHostsTest, UcxEndsAfterItsUsers) {
  if (!make_hosts({.hosts = 2})) return;
  for (int run = 0; run < 3; ++run) expect_good(2, "h0,h1", kSetup + "ends-late");
}

TEST_F(ShmemHostsTest, TheHeapIsSymmetricAcrossHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"alignments", "given-back", "after-finalize"})
    expect_good(3, "h0:2,h1", kMemory + mode);
}

TEST_F(ShmemHostsTest, CallsReachAllKindsOfMemory) {
  if (!make_hosts({.hosts = 2})) return;
  expect_good(2, "h0,h1", kStatics + "exchanged");
  expect_good(4, "h0:2,h1:2", kStatics + "exchanged");
}

TEST_F(ShmemHostsTest, DataMoveAsOnOneHost) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"types", "sizes", "signals", "contexts", "statics", "nothing"})
    expect_good(3, "h0:2,h1", kRma + mode);
}

TEST_F(ShmemHostsTest, AReportHasTheBytesBetweenHosts) {
  if (!make_hosts({.hosts = 2})) return;
  // A place that all hosts see.
  base::TestFolder folder(TEST_HOSTS_BUILD);
  std::string logs = folder.path() + "/logs";
  expect_good(2, "h0,h1 --report " + logs, kReport + "waits");
  Outcome made = Launched({cluster_test::kTerrane, "report", logs}).finish();
  EXPECT_EQ(made.exit_code, 0) << made.err;
  std::ifstream file(logs + "/report.html");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  // Ten blocks of 32 KiB each way, and some words.
  EXPECT_NE(text.find(">320."), std::string::npos) << text;
  EXPECT_NE(text.find("Bytes between PEs of different hosts"), std::string::npos) << text;
  EXPECT_NE(text.find("<tr><td>shmem_putmem</td><td class=\"t\">transfer</td><td>20</td>"),
            std::string::npos)
      << text;
}

TEST_F(ShmemHostsTest, ChildrenDoNotDisturbUcx) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"exits", "lingers", "of-all-kinds", "among-threads", "inherits-nothing"})
    expect_good(2, "h0,h1", kChildren + mode);
}

TEST_F(ShmemHostsTest, ExamplesFindTheSameResultsOverHosts) {
  if (!make_hosts({.hosts = 2})) return;
  const std::string examples = EXAMPLES "/";
  for (const char* example :
       {"heat --size 60 --steps 20", "sort --keys 5000", "matmul --size 48"}) {
    Outcome outcome = run_pes("h0:2,h1:2", examples + example);
    EXPECT_EQ(outcome.exit_code, 0) << example << ": " << outcome.out << outcome.err;
  }
}

TEST_F(ShmemHostsTest, JobsEndWithTheirStatusOrASentence) {
  if (!make_hosts({.hosts = 2})) return;
  expect_sentence(kSetup + "exit-0", 0, "");
  expect_sentence(kSetup + "exit-37", 37, "");
  expect_sentence(kSetup + "killed", 128 + 9, "SIGKILL");
  expect_sentence(kSetup + "exits-early", 1, "ended without leaving the job");
  expect_sentence(kMemory + "freed-twice", 1, "is not the start of a block");
}

// PEs that find the connection of the ended PE closed leave the report to a process that knows why.
TEST_F(ShmemHostsTest, APeThatEndsAmidTheOthersPutsIsTheOneThatIsNamed) {
  if (!make_hosts({.hosts = 3})) return;
  for (int run = 0; run < 3; ++run) {
    Outcome outcome = run_pes("h0,h1,h2", kSetup + "ends-amid-puts");
    EXPECT_EQ(outcome.exit_code, 9) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("terrane: node 2 (process "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("exited with code 9"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
