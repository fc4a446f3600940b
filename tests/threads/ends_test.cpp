// Ends of programs on several nodes: the exit code, the handlers of exit and the output are those
// of the program without Terrane, whichever function and whichever node ends it.
#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;
constexpr const char* kLibraryWays[] = {"err",   "errx",          "verr", "verrx",
                                        "error", "error_at_line", "argp", "obstack"};
constexpr const char* kOwnWays[] = {
    "exit", "exit_more_than_a_byte", "quick_exit", "_exit", "_Exit", "exit_group"};
constexpr const char* kSignalWays[] = {"abort", "assert", "raise", "kill"};

void expect_as_plain(const std::string& arguments, const Outcome& outcome) {
  Outcome expected = finish(plain(kProgram + " " + arguments));
  EXPECT_EQ(outcome.exit_code, expected.exit_code) << arguments << ": " << outcome.err;
  EXPECT_EQ(outcome.out, expected.out) << arguments << ": " << outcome.err;
}

void expect_as_plain(const std::string& options, const std::string& arguments) {
  SCOPED_TRACE(options);
  expect_as_plain(arguments, finish(threads(options, kProgram + " " + arguments)));
}

TEST(EndsTest, ErrAndItsLikeEndWithTheirCodeOnEveryNode) {
  for (const char* way : kLibraryWays)
    for (const char* who : {"", " 0", " 1", " 3"})
      expect_as_plain("-n 4 --placement 1", std::string(way) + who);
}

TEST(EndsTest, ExitAndItsLikeEndWithTheirCodeOnEveryNode) {
  for (const char* way : kOwnWays)
    for (const char* who : {"", " 1", " 2"})
      expect_as_plain("-n 3 --placement 1", std::string(way) + who);
}

TEST(EndsTest, SignalsThatTheProgramSendsItselfEndItWithTheirCode) {
  for (const char* way : kSignalWays)
    for (const char* who : {"", " 1"})
      expect_as_plain("-n 2 --placement 1", std::string(way) + who);
}

TEST(EndsTest, TheLastThreadEndsTheProgramAfterMainHasExited) {
  for (const char* options : {"-n 1", "-n 2 --placement 1"})
    expect_as_plain(options, "pthread_exit");
}

TEST(EndsTest, TheyDoOnOneNode) {
  for (const char* way : {"err", "error", "argp", "exit", "quick_exit", "_exit", "assert"})
    for (const char* who : {"", " 2"}) expect_as_plain("-n 1", std::string(way) + who);
}

TEST(EndsTest, TheyDoWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    for (const char* way : {"err 1", "quick_exit 1"})
      expect_as_plain(std::string("-n 2 --placement 1 --fault-source ") + source, way);
}

TEST(EndsTest, CrashesEndWithTheirCode) {
  for (const char* way : {"segv", "fpe", "trap", "overflow"})
    for (const char* who : {"", " 1"}) {
      expect_as_plain("-n 2 --placement 1", std::string(way) + who);
      expect_as_plain("-n 2 --placement 1 --fault-source sigsegv", std::string(way) + who);
    }
}

void expect_sentence(const std::string& arguments, const std::string& sentence) {
  Outcome outcome = finish(threads("-n 2 --placement 1", kProgram + " " + arguments));
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
}

TEST(EndsTest, ACrashNamesSignalAddressThreadAndPlace) {
  std::string place = " at threads_ends_program+0x";
  expect_sentence("segv 0", "SIGSEGV for address 0x10 in thread 1 on node 1" + place);
  expect_sentence("segv", "SIGSEGV for address 0x10 in main's thread on node 0" + place);
  expect_sentence("segv 0", "(read_nowhere+0x");
  expect_sentence("fpe 0", "SIGFPE in thread 1 on node 1" + place);
  expect_sentence("breakpoint 0", "SIGTRAP in thread 1 on node 1" + place);
  expect_sentence("abort 0", "SIGABRT in thread 1 on node 1" + place);
}

TEST(EndsTest, WhatACrashedThreadHasPrintedIsNotLost) {
  for (const char* way : {"unflushed_segv", "unflushed_abort"})
    for (const char* options : {"-n 1", "-n 2 --placement 1"}) {
      Outcome outcome = finish(threads(options, kProgram + " " + way + " 0"));
      EXPECT_EQ(count(outcome.out, "a thread ends the program"), 1) << outcome.out;
    }
}

TEST(EndsTest, HandlersOfTheProgramComeFirst) {
  for (const char* way : {"handled_fpe", "handled_abort"}) expect_as_plain("-n 1", way);
}

class EndsHostsTest : public OnHosts {};

TEST_F(EndsHostsTest, TheyDoOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* arguments :
       {"err", "err 1", "error 0", "exit 1", "quick_exit 1", "_exit 1", "abort 1"}) {
    std::string program = kProgram + " " + arguments;
    expect_as_plain(arguments,
                    launch(0, threads("--heartbeat 20 -H h0,h1 --placement 1", program)).finish());
  }
}

}  // namespace
}  // namespace terrane::test_hosts
