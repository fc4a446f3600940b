// Output of threads of several nodes into one file or pipe: whole lines, in the order in which the
// program writes them.
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/test_folder.h"
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;
#ifdef TERRANE_HAS_NO_INLINE_ATOMICS
constexpr const char* kWays[] = {"condition", "semaphore", "barrier", "rwlock", "spinlock",
                                 "c_mutex",   "join",      "write",   "pipe",   "atomic"};
#else
constexpr const char* kWays[] = {"condition", "semaphore", "barrier", "rwlock", "spinlock",
                                 "c_mutex",   "join",      "write",   "pipe"};
#endif

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::remove(path.c_str());
  return text;
}

std::string file_for(const char* way) {
  static const base::TestFolder folder;
  return folder / way;
}

void expect_as_plain(const std::string& way, const std::string& text) {
  EXPECT_EQ(text, finish(plain(kProgram + " " + way)).out) << way;
}

void expect_in_order(const std::string& options, const char* way) {
  SCOPED_TRACE(options);
  expect_as_plain(way, finish(threads(options, kProgram + " " + way)).out);
}

TEST(OutputTest, WhatAnyMeansOrdersStandsInThatOrderInAPipe) {
  for (const char* way : kWays) expect_in_order("-n 2 --placement 1", way);
  for (const char* options : {"-n 1", "-n 3 --placement 1"}) {
    expect_in_order(options, "condition");
    expect_in_order(options, "barrier");
  }
}

TEST(OutputTest, ItDoesInAFile) {
  for (const char* way : kWays) {
    std::string file = file_for(way);
    finish({"/bin/sh", "-c",
            std::string(cluster_test::kTerrane) + " threads -n 2 --placement 1 " + kProgram + " " +
                way + " > " + file});
    expect_as_plain(way, contents(file));
  }
}

TEST(OutputTest, ItDoesInAFileThatMainHasOpened) {
  for (const char* way : {"condition", "barrier", "join", "semaphore"}) {
    std::string file = file_for(way);
    Outcome outcome = finish(threads("-n 3 --placement 1", kProgram + " " + way + " " + file));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    expect_as_plain(way, contents(file));
  }
}

TEST(OutputTest, ItDoesWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_in_order(std::string("-n 2 --placement 1 --fault-source ") + source, "semaphore");
}

TEST(OutputTest, LinesThatNothingOrdersAreWhole) {
  for (const char* way : {"lines", "locked"}) {
    std::string file = file_for(way), expected = sorted(finish(plain(kProgram + " " + way)).out);
    for (const char* options : {"-n 2 --placement 1", "-n 3 --placement 1"}) {
      Outcome outcome = finish(threads(options, kProgram + " " + way));
      EXPECT_EQ(sorted(outcome.out), expected) << options << " " << way;
      finish(threads(options, kProgram + " " + way + " " + file));
      EXPECT_EQ(sorted(contents(file)), expected) << options << " " << way;
    }
  }
}

TEST(OutputTest, BuffersThatMainHasSetHoldOnAllNodesWhereAThreadEndsTheProgram) {
  for (const char* way : {"lines_crash", "none_crash", "none_exit_crash"}) {
    Outcome outcome = finish(threads("-n 2 --placement 1", kProgram + " " + way));
    EXPECT_GE(count(outcome.out, "a thread has said this"), 1) << way << ": " << outcome.out;
    Outcome expected = finish(plain(kProgram + " " + way));
    EXPECT_EQ(outcome.exit_code, expected.exit_code) << way << ": " << outcome.err;
  }
}

TEST(OutputTest, TaggedLinesAreThoseOfTheirNodes) {
  Outcome outcome = finish(threads("-n 2 --placement 1 --tag-output", kProgram + " join"));
  for (const char* line : {"[0] the header\n", "[1] record 3 of thread 0\n"})
    EXPECT_EQ(count(outcome.out, line), 1) << outcome.out;
}

class OutputHostsTest : public OnHosts {};

TEST_F(OutputHostsTest, ItDoesOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  std::string options = "--heartbeat 20 -H h0,h1 --placement 1";
  for (const char* way : {"semaphore", "barrier", "join"})
    expect_as_plain(way, launch(0, threads(options, kProgram + " " + way)).finish().out);
  std::string lines = launch(0, threads(options, kProgram + " lines")).finish().out;
  EXPECT_EQ(sorted(lines), sorted(finish(plain(kProgram + " lines")).out));
}

}  // namespace
}  // namespace terrane::test_hosts
