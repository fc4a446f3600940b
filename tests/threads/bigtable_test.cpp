// The example whose data exceed one node, beside its run without Terrane.
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;

// A table of so many MiB that is filled by main or by all threads, in slices of 1 MiB.
std::string table(int mib, const std::string& filled_by) {
  return kProgram + " " + std::to_string(mib) + " 3 " + filled_by + " 1000 1";
}

TEST(BigtableTest, AnIndexLargerThanANodeIsThatOfOneMachine) {
  for (const char* filled_by : {"main", "all"}) {
    std::string program = table(48, filled_by);
    Outcome alone = finish(plain(program));
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    Outcome together = finish(threads("-n 2 --memory 32M", program));
    EXPECT_EQ(together.exit_code, 0) << together.err;
    EXPECT_EQ(together.out, alone.out) << together.err;
  }
}

TEST(BigtableTest, SmallerTablesDoOnAnyNumberOfNodes) {
  std::string program = table(8, "all");
  Outcome alone = finish(plain(program));
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  for (const char* options : {"-n 1", "-n 2 --placement cyclic", "-n 3 --placement 1"})
    EXPECT_EQ(finish(threads(options, program)).out, alone.out) << options;
}

TEST(BigtableTest, BadArgumentsAreSaid) {
  for (const char* arguments : {" 0", " 48 x", " 48 2 some", " 48 2 main 1 1 1"}) {
    Outcome outcome = finish(plain(kProgram + arguments));
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_EQ(outcome.err.find("usage: bigtable"), 0U) << outcome.err;
  }
}

class BigtableHostsTest : public OnHosts {};

TEST_F(BigtableHostsTest, AnIndexLargerThanAHost) {
  if (!make_hosts({.hosts = 2})) return;
  std::string program = table(48, "main");
  Outcome outcome = launch(0, threads("-H h0,h1 --memory 32M", program)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, finish(plain(program)).out) << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
