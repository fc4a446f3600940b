// A program that closes descriptors it knows nothing of keeps the job's.
#include <gtest/gtest.h>

#include "../hosts/on_hosts.h"

namespace terrane::test_hosts {
namespace {

using cluster_test::kTerrane;
using cluster_test::words;

constexpr const char* kPrograms[] = {CLOSING_PAGES, CLOSING_SHMEM, CLOSING_CHUNKS};
constexpr const char* kWays[] = {"close", "close_range", "closefrom", "dup2", "own", "child"};

class ClosingTest : public OnHosts {
 protected:
  static void expect_kept(const Outcome& outcome, int nodes, const std::string& what,
                          const std::string& way) {
    EXPECT_EQ(count(outcome.out, "good\n"), nodes) << what << outcome.out << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << what;
    bool closes_others = way != "own" && way != "child";
    EXPECT_EQ(count(outcome.err, "is the job's and stays open"), closes_others ? nodes : 0)
        << what << outcome.err;
  }
};

TEST_F(ClosingTest, DescriptorsOfTheJobStayOpen) {
  for (const char* program : kPrograms)
    for (const char* way : kWays)
      for (const char* transport : {"shm", "ucx"}) {
        std::string line = std::string("--transport ") + transport + " " + program + " " + way;
        expect_kept(Launched(words(std::string(kTerrane) + " run -n 2 " + line)).finish(), 2, line,
                    way);
      }
}

TEST_F(ClosingTest, WhateverFindsTheFaults) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"}) {
    Outcome outcome =
        Launched(words(std::string(kTerrane) + " run -n 2 " + CLOSING_PAGES + " close"),
                 {.environment = {std::string("TERRANE_FAULT_SOURCE=") + source}})
            .finish();
    if (count(outcome.out + outcome.err, "kernel's userfaultfd lacks") > 0) continue;
    expect_kept(outcome, 2, source, "close");
  }
}

TEST_F(ClosingTest, DescriptorsOfTheJobStayOpenOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* program : kPrograms)
    for (const char* way : {"close", "closefrom"}) {
      std::string line = std::string(program) + " " + way;
      expect_kept(job("--heartbeat 20 -H h0:2,h1", line), 3, line, way);
    }
}

}  // namespace
}  // namespace terrane::test_hosts
