// OpenMP programs on hosts of which some lend their memory alone.
#include "run_omp.h"

namespace terrane::test_hosts {
namespace {

const std::string kLend = LEND_PROGRAM;

class OmpLendTest : public OnHosts {
 protected:
  Outcome on(const std::string& options, const std::string& how,
             std::vector<std::string> environment = {}) const {
    std::string line = omp_line("--heartbeat 20 " + options, kLend + " " + how);
    return launch(0, cluster_test::words(line), std::move(environment)).finish();
  }
};

TEST_F(OmpLendTest, TeamsHaveThreadsOnNodesThatDoNotLendAlone) {
  if (!make_hosts({.hosts = 4})) return;
  for (const char* how : {"48 malloc", "48 default"}) {
    std::string options = "-H h0 -n 1 --lend h1,h2 --threads 2 --memory 32M";
    Outcome outcome = on(options, how);
    check_good(outcome, options);
    EXPECT_EQ(count(outcome.out, "h0\n"), 2) << outcome.out;
  }
  std::string options = "-H h0,h1 --lend h2,h3 --threads 2 --memory 32M";
  Outcome outcome = on(options, "64 malloc");
  check_good(outcome, options);
  EXPECT_EQ(count(outcome.out, "h0\n"), 2) << outcome.out;
  EXPECT_EQ(count(outcome.out, "h1\n"), 2) << outcome.out;
  // A node with slots of its own, and the number of processors without --threads.
  options = "-H h0,h1,h2 --lend h3:2";
  outcome = on(options, "4 malloc");
  check_good(outcome, options);
  EXPECT_EQ(count(outcome.out, "h3\n"), 0) << outcome.out;
  std::string procs = "procs " + std::to_string(count(outcome.out, "\nh"));
  EXPECT_NE(outcome.out.find(procs), std::string::npos) << outcome.out;
  outcome = on(options, "4 malloc", {"OMP_NUM_THREADS=5"});
  check_good(outcome, options);
  EXPECT_EQ(count(outcome.out, "\nh"), 5) << outcome.out;
}

TEST_F(OmpLendTest, AllocatorsWork) {
  if (!make_hosts({.hosts = 3})) return;
  for (const char* partition : {"blocked", "interleaved"}) {
    for (const char* hosts : {"-H h0,h1 --lend h2", "-H h0 --lend h1,h2"}) {
      std::string options = std::string(hosts) + " --threads 1 --memory 32M";
      check_good(on(options, std::string("32 ") + partition), options + partition);
    }
  }
}

TEST_F(OmpLendTest, EveryFaultSourceFindsWhatTeamsWrite) {
  if (!make_hosts({.hosts = 3})) return;
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"}) {
    std::string options =
        std::string("-H h0,h1 --lend h2 --threads 1 --memory 32M --fault-source ");
    check_good(on(options + source, "48 malloc"), options + source);
  }
}

}  // namespace
}  // namespace terrane::test_hosts
