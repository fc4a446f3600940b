#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "on_hosts.h"

// A program's run on several nodes beside its run without Terrane.
namespace terrane::test_hosts {

inline std::vector<std::string> plain(const std::string& program) {
  return cluster_test::words(program);
}

inline std::vector<std::string> threads(const std::string& options, const std::string& program) {
  return cluster_test::words(std::string(cluster_test::kTerrane) + " threads " + options + " " +
                             program);
}

inline Outcome finish(const std::vector<std::string>& command) {
  Launched launched(command, {});
  Outcome outcome = launched.finish();
  EXPECT_FALSE(outcome.timed_out) << fmt::format("{} hangs", fmt::join(command, " "));
  return outcome;
}

inline std::string sorted(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

// Programs that print "good" and end with 0 where all is right.
inline void expect_good(const Outcome& outcome, const std::string& how) {
  EXPECT_EQ(outcome.exit_code, 0) << how << ": " << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 1) << how << ": " << outcome.out << outcome.err;
}

inline void expect_good(const std::string& options, const std::string& program) {
  expect_good(finish(threads(options, program)), options);
}

class GoodOnHosts : public OnHosts {
 protected:
  // On one node of each of two hosts.
  void expect_good_on_hosts(const std::string& program) {
    if (!make_hosts({.hosts = 2})) return;
    const std::string options = "--heartbeat 20 -H h0,h1 --placement 1";
    test_hosts::expect_good(launch(0, threads(options, program)).finish(), options);
  }
};

}  // namespace terrane::test_hosts
