#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "on_hosts.h"

// Jobs of OpenMP programs, each of which prints "good" where all of its results are right.
namespace terrane::test_hosts {

// Teams on one host: nodes, and threads of each.
inline const std::vector<std::string> kTeams = {"-n 1 --threads 1", "-n 1 --threads 2",
                                                "-n 2 --threads 1", "-n 2 --threads 2",
                                                "-n 3 --threads 1"};

inline std::string omp_line(const std::string& options, const std::string& program) {
  return std::string(cluster_test::kTerrane) + " omp " + options + " " + program;
}

inline Outcome run_omp(const std::string& options, const std::string& program,
                       std::vector<std::string> environment = {}) {
  std::string line = omp_line(options, program);
  Launched job(cluster_test::words(line), {.environment = std::move(environment)});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << line << " hangs";
  return outcome;
}

inline void check_good(const Outcome& outcome, const std::string& line) {
  EXPECT_EQ(outcome.exit_code, 0) << line << ": " << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << line << ": " << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "") << line;
}

inline void expect_good(const std::string& options, const std::string& program,
                        std::vector<std::string> environment = {}) {
  check_good(run_omp(options, program, std::move(environment)), options + " " + program);
}

// On every team, and with every way to find what the program writes.
inline void expect_good_everywhere(const std::string& program) {
  for (const std::string& team : kTeams) expect_good(team, program);
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_good("-n 2 --threads 1 --fault-source " + std::string(source), program);
}

}  // namespace terrane::test_hosts
