// Tasks that wait for what only later tasks bring about end, also where some were lent to other
// nodes.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = LATER_EVENT_PROGRAM;

TEST(OmpLaterEventTest, ATaskWaitsForAnEventThatALaterTaskFulfils) {
  for (const char* team : {"-n 1 --threads 2", "-n 2 --threads 1", "-n 3 --threads 1",
                           "-n 2 --threads 1 --fault-source sigsegv"})
    for (const char* mode : {" taskwait", " detached", " depend", " kept"})
      for (const char* others : {" 0", " 3", " 9"}) expect_good(team, kProgram + mode + others);
}

}  // namespace
}  // namespace terrane::test_hosts
