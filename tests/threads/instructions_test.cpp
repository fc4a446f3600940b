// Instructions that a program writes at run time are executed on every node.
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

TEST(InstructionsTest, ThreadsOfAllNodesExecuteWhatOneWrote) {
  for (const char* options :
       {"-n 1", "-n 2 --placement 1", "-n 4 --placement 1",
        "-n 2 --placement 1 --fault-source uffd-sync", "-n 3 --placement 1 --predict never"})
    expect_good(options, PROGRAM);
}

TEST(InstructionsTest, WithoutUserfaultfdTheCallFailsWithASentence) {
  Outcome outcome = finish(threads("-n 2 --fault-source sigsegv", PROGRAM));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "mprotect: Permission denied\n");
  EXPECT_NE(outcome.err.find("need userfaultfd"), std::string::npos) << outcome.err;
}

class InstructionsHostsTest : public GoodOnHosts {};

TEST_F(InstructionsHostsTest, AlsoBetweenHosts) { expect_good_on_hosts(PROGRAM); }

}  // namespace
}  // namespace terrane::test_hosts
