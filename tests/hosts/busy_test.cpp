// A machine that is only busy is not dead.
//
// TERRANE_BUSY_RUNS: how many jobs; TERRANE_BUSY_THREADS: beside how many threads that compute.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

// Threads that compute for as long as this object is there.
class Load {
 public:
  explicit Load(int threads) {
    for (int i = 0; i < threads; ++i) {
      all_.emplace_back([](std::stop_token stop) {
        while (!stop.stop_requested()) continue;
      });
    }
  }

 private:
  std::vector<std::jthread> all_;
};

class BusyTest : public OnHosts {};

TEST_F(BusyTest, JobsOnFourHostsEndInOrderBesideManyThreadsThatCompute) {
  if (!make_hosts({.hosts = 4})) return;
  const std::string program = cluster_test::kNodeProgram;
  Load load(number_from("TERRANE_BUSY_THREADS", 24));
  int runs = number_from("TERRANE_BUSY_RUNS", 2), failures = 0;
  for (int i = 0; i < runs; ++i) {
    Outcome outcome =
        job("-H h0,h1,h2,h3", program + " join exchange:0:0 sleep:2000 exchange:0:0 leave");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    failures += outcome.exit_code != 0;
  }
  std::printf("%d of %d jobs failed\n", failures, runs);
}

}  // namespace
}  // namespace terrane::test_hosts
