// Files that libraries of the runtime open for themselves, while a thread of the program waits.
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

class TransportFilesTest : public OnHosts {};

TEST_F(TransportFilesTest, AStreamOfALibraryIsNoneOfTheProgram) {
  if (!make_hosts({.hosts = 2})) return;
  Outcome outcome = launch(0, threads("--heartbeat 20 -H h0,h1 --placement 1", PROGRAM)).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "good\n") << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
