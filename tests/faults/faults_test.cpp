// Whatever breaks, the job ends everywhere, says once what broke where, and leaves nothing behind.
//
// TERRANE_FAULTS: how many faults a part injects; TERRANE_FAULT_SEED: the first seed, of one fault
// alone. A failure names the seed that makes it again.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "afflicted_job.h"

namespace terrane::faults {
namespace {

constexpr std::uint32_t kFaultsAPart = 50;
constexpr std::uint32_t kHosts = 4;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class FaultsTest : public test_hosts::OnHosts, public testing::WithParamInterface<std::uint64_t> {
 protected:
  bool make_fresh_hosts() {
    return make_hosts({.hosts = kHosts, .shm_size = "1m", .tmp_size = "1m"});
  }

  void meet(std::uint64_t seed) {
    Fault fault = fault_of(seed);
    AfflictedJob job(hosts(), fault);
    Verdict verdict = job.meet_fault(
        [this](const std::vector<std::string>& command) { return launch(0, command); });
    times_[name_of(fault.kind)].push_back(verdict.ms);
    std::string complaints;
    for (const std::string& one : verdict.complaints) complaints += "\n  " + one;
    EXPECT_TRUE(verdict.complaints.empty()) << describe(fault) << complaints << "\n  exit code "
                                            << verdict.exit_code << ", standard error:\n"
                                            << verdict.err << "again: TERRANE_FAULT_SEED=" << seed;
    if (fault.kind == Kind::kHostDies) make_fresh_hosts();
  }

  void report() {
    for (auto& [kind, times] : times_) {
      std::sort(times.begin(), times.end());
      std::printf("%-20s %3zu faults; gone after %5lld ms (median), %5lld ms (longest)\n",
                  kind.c_str(), times.size(), static_cast<long long>(times[times.size() / 2]),
                  static_cast<long long>(times.back()));
    }
  }

 private:
  std::map<std::string, std::vector<std::int64_t>> times_;
};

TEST_P(FaultsTest, EndTheJobEverywhere) {
  if (!make_fresh_hosts()) return;
  std::uint64_t one = number_from("TERRANE_FAULT_SEED", 0);
  if (one != 0) {
    if (GetParam() == 0) meet(one);
    return;
  }
  std::uint64_t count = number_from("TERRANE_FAULTS", kFaultsAPart);
  for (std::uint64_t i = 1; i <= count; ++i) meet(GetParam() * count + i);
  report();
}

INSTANTIATE_TEST_SUITE_P(Parts, FaultsTest, testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace terrane::faults
