// Signals of a program on several nodes: the program's disposition, as main set it, holds on all of
// them, and a signal for the process is delivered once.
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = SIGNALS_PROGRAM;
constexpr const char* kSetups[] = {"-n 1", "-n 2 --placement 1", "-n 3 --placement cyclic"};
constexpr const char* kModes[] = {"self_sent", "queued",      "waited_for", "other_threads",
                                  "in_waits",  "interrupted", "ignored"};

std::vector<std::string> line(const std::string& options, const std::string& mode) {
  return cluster_test::words(std::string(cluster_test::kTerrane) + " threads " + options + " " +
                             kProgram + " " + mode);
}

void expect_good(const std::string& options, const std::string& mode) {
  Outcome outcome = Launched(line(options, mode)).finish();
  EXPECT_FALSE(outcome.timed_out) << options << " " << mode << " hangs";
  EXPECT_EQ(outcome.exit_code, 0) << options << " " << mode << ": " << outcome.err;
  EXPECT_EQ(outcome.out, "good\n") << options << " " << mode;
  EXPECT_EQ(outcome.err, "") << options << " " << mode;
}

TEST(SignalsTest, SignalsOfThreadsAreThoseOfOneProcess) {
  for (const char* setup : kSetups)
    for (const char* mode : kModes) expect_good(setup, mode);
}

// The handler's post was refused where it came between a touch of the new stack and its end: one
// job in twenty hung.
TEST(SignalsTest, NoSignalIsLostAtTheStartOfAThread) {
  for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) expect_good("-n 1", "self_sent");
}

TEST(SignalsTest, ASignalMayComeWhileAnotherHandlerPosts) {
  for (const char* setup : {"-n 1", "-n 2 --placement 1", "-n 2 --fault-source sigsegv"})
    expect_good(setup, "handlers_meet");
}

TEST(SignalsTest, HandlersMayUseMemoryWithEveryFaultSource) {
  for (const char* source : {"uffd-async", "uffd-sync", "uffd-late", "sigsegv"})
    for (const char* mode : {"in_waits", "interrupted"})
      expect_good(std::string("-n 2 --placement 1 --fault-source ") + source, mode);
}

TEST(SignalsTest, AlarmsOfAllThreadsAreThoseOfTheProcess) {
  for (const char* setup : kSetups) expect_good(setup, "alarms");
}

// The nodes' processes, that of node 0 first.
std::vector<pid_t> nodes_of(const std::string& said, int nodes) {
  std::vector<pid_t> all;
  for (int n = 0; n < nodes; ++n) {
    std::string words = "node " + std::to_string(n) + " is process ";
    std::size_t at = said.find(words);
    if (at != std::string::npos)
      all.push_back(static_cast<pid_t>(std::atoi(said.c_str() + at + words.size())));
  }
  return all;
}

TEST(SignalsTest, AHandlerOfMainRunsOnceWhoeverIsSentTheSignal) {
  for (int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM}) {
    for (int target = 0; target < 3; ++target) {
      Launched job(line("-v -n 2 --placement 1", "served"));
      ASSERT_TRUE(job.wait_for("up\n")) << job.err();
      std::vector<pid_t> nodes = nodes_of(job.err(), 2);
      ASSERT_EQ(nodes.size(), 2u) << job.err();
      if (target != 1) ::kill(job.pid(), number);
      if (target != 0) ::kill(nodes[1], number);
      Outcome outcome = job.finish();
      EXPECT_EQ(outcome.exit_code, 0) << number << " to " << target << ": " << outcome.err;
      std::string text =
          std::string("up\nsaved after SIG") + ::sigabbrev_np(number) + ", 1 in all\n";
      EXPECT_EQ(outcome.out, text + "good\n") << "to " << target;
    }
  }
}

TEST(SignalsTest, ASignalToTheLauncherAndItsGroupIsOneWish) {
  for (const char* nodes : {"1", "3"}) {
    std::vector<std::string> words{"timeout", "2"};
    for (std::string& word : line(std::string("-n ") + nodes, "served")) words.push_back(word);
    Outcome outcome = Launched(words).finish();
    EXPECT_EQ(outcome.exit_code, 124) << outcome.err;
    EXPECT_EQ(outcome.out, "up\nsaved after SIGTERM, 1 in all\ngood\n") << outcome.err;
  }
}

TEST(SignalsTest, WithoutAHandlerTheProgramEndsAsItWouldByItself) {
  for (int number : {SIGTERM, SIGUSR1, SIGALRM, SIGABRT, SIGFPE}) {
    Outcome outcome =
        Launched(line("-n 2 --placement 1", "dies " + std::to_string(number))).finish();
    EXPECT_EQ(outcome.exit_code, 128 + number) << outcome.err;
  }
}

class SignalsHostsTest : public OnHosts {};

TEST_F(SignalsHostsTest, TheProcessIsOneOnTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : kModes) {
    Outcome outcome = run(0, line("-H h0,h1", mode));
    EXPECT_EQ(outcome.exit_code, 0) << mode << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "good\n") << mode;
  }
  Launched job = launch(0, line("-H h0,h1", "served"));
  ASSERT_TRUE(job.wait_for("up\n")) << job.err();
  Outcome outcome = shell(0, "pkill -TERM -x terrane");
  outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "up\nsaved after SIGTERM, 1 in all\ngood\n") << outcome.err;
}

}  // namespace
}  // namespace terrane::test_hosts
