#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "sim/campaign.h"

// Checks for tests: what holds for the campaign of every protocol.

namespace terrane::sim {

inline CampaignOptions options_of(Protocol protocol, std::uint64_t histories) {
  CampaignOptions options;
  options.protocol = protocol;
  options.histories = histories;
  options.jobs = 2;
  return options;
}

// Expects that no history fails. If `rare` is true, there are enough histories for the rare
// branches, and each branch must be taken by some history.
inline CampaignReport expect_all_hold(const CampaignOptions& options, bool rare) {
  CampaignReport report = run_campaign(options);
  EXPECT_FALSE(report.failed_seed)
      << "seed " << report.failed_seed.value_or(0) << ": " << report.reason;
  if (!rare) return report;
  for (const BranchCount& count : report.branches)
    EXPECT_GT(count.times, 0u) << "no history takes the branch " << count.branch;
  return report;
}

inline void expect_same_history_every_time(Protocol protocol) {
  CampaignOptions options = options_of(protocol, 1);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Replay one = replay(options, seed), other = replay(options, seed);
    EXPECT_EQ(one.hash, other.hash) << "seed " << seed;
    EXPECT_EQ(one.trace, other.trace) << "seed " << seed;
  }
}

// Expects that a history from seed 1 on fails with the planted fault.
inline void expect_caught(Protocol protocol, std::string_view mutant, std::uint64_t histories) {
  CampaignOptions options = options_of(protocol, histories);
  options.mutant = mutant;
  CampaignReport report = run_campaign(options);
  ASSERT_TRUE(report.failed_seed) << mutant << " is not caught";
  std::printf("caught by seed %llu: %s\n", static_cast<unsigned long long>(*report.failed_seed),
              report.reason.c_str());
}

}  // namespace terrane::sim
