#pragma once

#include <gtest/gtest.h>

#include "../launcher/launched.h"

// How the tests of this folder run their program.
namespace terrane::cluster_test {

inline Outcome run_pes(int pes, const std::string& mode,
                       std::vector<std::string> environment = {}) {
  Launched::Options options;
  options.environment = std::move(environment);
  Launched job({kTerrane, "run", "-n", std::to_string(pes), SHMEM_PROGRAM, mode},
               std::move(options));
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << mode << " hangs";
  EXPECT_GE(job.ms_until_all_gone(), 0) << mode << " leaves processes behind";
  return outcome;
}

inline void expect_good(int pes, const std::string& mode,
                        std::vector<std::string> environment = {}) {
  Outcome outcome = run_pes(pes, mode, std::move(environment));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), pes) << outcome.out << outcome.err;
}

// The job ends with `code`, and the user reads one line, which holds `part`.
inline void expect_sentence(int pes, const std::string& mode, const std::string& part, int code = 1,
                            std::vector<std::string> environment = {}) {
  Outcome outcome = run_pes(pes, mode, std::move(environment));
  EXPECT_EQ(outcome.exit_code, code) << outcome.err;
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

}  // namespace terrane::cluster_test
