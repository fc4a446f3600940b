// A signal for the process is delivered to a thread that has it open or waits for it, on whatever
// node that runs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

constexpr const char* kSetups[] = {"-n 1", "-n 2 --placement 1", "-n 3 --placement cyclic"};

std::vector<std::string> line(const std::string& options, const std::string& mode) {
  return cluster_test::words(fmt::format("{} threads {} {} {} {} {} {} {}", cluster_test::kTerrane,
                                         options, OPEN_SIGNALS_PROGRAM, mode, SIGTERM, SIGHUP,
                                         SIGUSR1, SIGINT));
}

// Sends the signal to the launcher when the program is up.
Outcome signalled(const std::string& options, const std::string& mode, int number) {
  Launched job(line(options, mode));
  EXPECT_TRUE(job.wait_for("up\n")) << job.err();
  ::kill(job.pid(), number);
  return job.finish();
}

std::string got(int number) {
  return fmt::format("up\nSIG{}, its thread, no value\n", ::sigabbrev_np(number));
}

TEST(OpenSignalsTest, TheThreadThatHasASignalOpenGetsItOnAnyNode) {
  for (const char* setup : kSetups)
    for (const char* mode : {"sleeps", "suspends", "computes", "waits"}) {
      Outcome outcome = signalled(setup, mode, SIGTERM);
      EXPECT_EQ(outcome.exit_code, 0) << setup << " " << mode << ": " << outcome.err;
      EXPECT_EQ(outcome.out, got(SIGTERM)) << setup << " " << mode;
    }
  for (int number : {SIGHUP, SIGUSR1, SIGINT})
    for (const char* mode : {"sleeps", "waits"})
      EXPECT_EQ(signalled(kSetups[1], mode, number).out, got(number)) << mode;
}

TEST(OpenSignalsTest, AThreadThatHasItOpenWithoutAHandlerEndsTheProgram) {
  for (const char* setup : kSetups)
    EXPECT_EQ(signalled(setup, "dies", SIGTERM).exit_code, 128 + SIGTERM) << setup;
}

TEST(OpenSignalsTest, AThreadThatOpensItForMomentsGetsIt) {
  Outcome outcome = Launched(line("-n 2 --placement 1", "moments")).finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(outcome.timed_out);
}

TEST(OpenSignalsTest, AQueuedSignalForAThreadIsNoneForTheProcess) {
  for (const char* setup : kSetups) {
    Outcome outcome = Launched(line(setup, "queued")).finish();
    EXPECT_EQ(outcome.exit_code, 0) << setup << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "up\nSIGUSR1, its thread, its value\n") << setup;
  }
}

class OpenSignalsHostsTest : public OnHosts {};

TEST_F(OpenSignalsHostsTest, TheThreadThatHasASignalOpenGetsItOnAnotherHost) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"sleeps", "waits"}) {
    Launched job = launch(0, line("-H h0,h1 --placement 1", mode));
    ASSERT_TRUE(job.wait_for("up\n")) << job.err();
    shell(0, "pkill -TERM -x terrane");
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, got(SIGTERM)) << mode;
  }
}

}  // namespace
}  // namespace terrane::test_hosts
