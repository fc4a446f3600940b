// Races between nodes, as --check=races reports them.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/test_folder.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = CHECKED_PROGRAM;
const std::string kNone = "--check=races: no two nodes have written the same bytes";

std::string line_of(const std::string& options, const std::string& what) {
  return std::string(cluster_test::kTerrane) + " threads -n 2 --placement 1 --check=races " +
         options + " " + kProgram + " " + what;
}

Outcome run_checked(const std::string& options, const std::string& what) {
  Launched job(cluster_test::words(line_of(options, what)), {});
  Outcome outcome = job.finish();
  EXPECT_FALSE(outcome.timed_out) << options << " " << what << " hangs";
  EXPECT_EQ(count(outcome.out, "good"), 1) << what << ": " << outcome.out << outcome.err;
  return outcome;
}

// A race may be missed where one node comes late (docs/races.md).
Outcome run_until_found(const std::string& options, const std::string& what) {
  Outcome outcome = run_checked(options, what);
  for (int tries = 0; tries < 4 && outcome.err.find("data race:") == std::string::npos; ++tries)
    outcome = run_checked(options, what);
  return outcome;
}

void expect_races(const std::string& options, const std::string& what, const std::string& names) {
  Outcome outcome = run_until_found("--check-fails " + options, what);
  EXPECT_EQ(outcome.exit_code, 66) << what << ": " << outcome.err;
  EXPECT_NE(outcome.err.find("data race: " + names), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("written by node 0"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("--check=races: 1 data race between nodes"), std::string::npos)
      << outcome.err;
}

void expect_none(const std::string& options, const std::string& what) {
  Outcome outcome = run_checked("--check-fails " + options, what);
  EXPECT_EQ(outcome.exit_code, 0) << what << ": " << outcome.err;
  EXPECT_NE(outcome.err.find(kNone), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("data race:"), std::string::npos) << outcome.err;
}

TEST(CheckedTest, AReadThatNothingOrdersWithAWriteIsNamed) {
  std::string line = std::string(cluster_test::kTerrane) +
                     " threads -n 2 --placement 1 --check=races=reads --check-fails " + kProgram;
  Outcome outcome;
  for (int tries = 0; tries < 5 && outcome.exit_code != 66; ++tries)
    outcome = Launched(cluster_test::words(line + " read"), {}).finish();
  EXPECT_EQ(outcome.exit_code, 66) << outcome.out << outcome.err;
  for (const char* part : {"data race: hidden", "read by node 0 at checked_program.c:",
                           "written by node 1 at checked_program.c:"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << ": " << outcome.err;
  outcome = Launched(cluster_test::words(line + " none"), {}).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST(CheckedTest, RacesAreNamedByTheirVariables) {
  expect_races("", "global", "counter, ");
  expect_races("", "static", "hidden, byte 4000: ");
  expect_races("", "heap", "the block of 8000 bytes of checked_program.c:");
}

TEST(CheckedTest, EachWayToFindWritesFindsThem) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"}) {
    std::string option = "--fault-source " + std::string(source);
    expect_races(option, "global", "counter, ");
    expect_none(option, "none");
  }
}

TEST(CheckedTest, WhatIsOrderedIsNoRace) {
  expect_none("", "none");
  expect_none("", "neighbours");
}

TEST(CheckedTest, EqualValuesAreToldApart) {
  Outcome outcome = run_until_found("--check-fails", "same");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("data race: found, byte 0: "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("with the same value"), std::string::npos) << outcome.err;
}

TEST(CheckedTest, WithoutTheOptionTheExitCodeStays) {
  EXPECT_EQ(run_checked("", "global").exit_code, 0);
}

TEST(CheckedTest, TheFileHasTheSame) {
  base::TestFolder folder;
  std::string path = folder / "races";
  run_until_found("--check-output " + path, "global");
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("\"variable\": \"counter\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"nodes\": [0, 1]"), std::string::npos) << text;
}

TEST(CheckedTest, WhatCannotBeIsSaidBeforeTheStart) {
  auto refused = [](const std::string& options) {
    std::string line =
        std::string(cluster_test::kTerrane) + " threads -n 2 " + options + " " + kProgram;
    Outcome outcome = Launched(cluster_test::words(line), {}).finish();
    EXPECT_NE(outcome.exit_code, 0) << options;
    return outcome.err;
  };
  EXPECT_NE(refused("--check=races --consistency sequential").find("no node has copies"),
            std::string::npos);
  EXPECT_NE(refused("--check-fails").find("it needs --check=races"), std::string::npos);
  EXPECT_NE(refused("--check=races --check-output /nowhere/file").find("/nowhere/file"),
            std::string::npos);
}

// Data that nothing but a flag orders.
Outcome run_flag_order(const std::string& check, const std::string& what) {
  std::string line = std::string(cluster_test::kTerrane) +
                     " threads -n 2 --placement 1 --check=" + check + " --check-fails " +
                     FLAG_ORDER_PROGRAM + " " + what;
  Outcome outcome = Launched(cluster_test::words(line), {}).finish();
  EXPECT_EQ(count(outcome.out, "good"), 1) << what << ": " << outcome.out << outcome.err;
  return outcome;
}

TEST(CheckedTest, WhatAFlagOrdersThatAThreadPollsIsNoRace) {
  for (const char* check : {"races", "races=reads", "races", "races=reads", "races"}) {
    Outcome outcome = run_flag_order(check, "polled");
    EXPECT_EQ(outcome.exit_code, 0) << check << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("data race:"), std::string::npos) << check << ": " << outcome.err;
  }
}

TEST(CheckedTest, WhatAnyFlagOrdersIsNoRaceWhereReadsAreSeen) {
  for (const char* what : {"looked", "stores"}) {
    Outcome outcome = run_flag_order("races=reads", what);
    EXPECT_EQ(outcome.exit_code, 0) << what << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("data race:"), std::string::npos) << what << ": " << outcome.err;
  }
}

TEST(CheckedTest, WhatIsChangedAfterAFlagRaces) {
  Outcome outcome = run_flag_order("races=reads", "race");
  EXPECT_EQ(outcome.exit_code, 66) << outcome.err;
  EXPECT_NE(outcome.err.find("data race: data, "), std::string::npos) << outcome.err;
}

class CheckedOnHosts : public OnHosts {};

TEST_F(CheckedOnHosts, RacesAreFoundBetweenHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* what : {"global", "none"}) {
    Outcome outcome =
        run(0, cluster_test::words(line_of("--heartbeat 20 -H h0,h1 --check-fails", what)));
    bool races = std::string(what) == "global";
    EXPECT_EQ(outcome.exit_code, races ? 66 : 0) << what << ": " << outcome.err;
    EXPECT_EQ(outcome.err.find("data race: counter, ") != std::string::npos, races) << outcome.err;
    EXPECT_EQ(outcome.err.find(kNone) == std::string::npos, races) << outcome.err;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
