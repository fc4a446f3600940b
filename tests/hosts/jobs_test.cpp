// Jobs over several hosts: programs that work on one host work on many, and faults of hosts and
// networks are reported in a sentence.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

class JobsTest : public OnHosts {
 protected:
  void expect_good(int nodes, const std::string& options, const std::string& mode,
                   std::vector<std::string> environment = {}) {
    OnHosts::expect_good(nodes, options, std::string(PAGES_PROGRAM) + " " + mode,
                         std::move(environment));
  }

  void expect_sentence(const Outcome& outcome, std::vector<std::string> parts) {
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_EQ(count(outcome.err, part) > 0, true) << part << ": " << outcome.err;
  }

  void signal_all(std::uint32_t host, bool (*is_wanted)(const Process&), int signal) {
    for (const Process& process : hosts().processes(host)) {
      if (is_wanted(process)) ::kill(process.pid, signal);
    }
  }
};

// Patient, because a busy machine may keep an engine from its work for longer than people wait.
constexpr char kTwo[] = "--heartbeat 20 -H h0,h1";
constexpr char kFour[] = "--heartbeat 20 -H h0,h1,h2,h3";
constexpr char kTwoByTwo[] = "--heartbeat 20 -H h0:2,h1:2";

TEST_F(JobsTest, PagesWorkAcrossTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"basics", "homes", "writers", "tracking", "threads", "semaphores",
                           "conditions", "flags", "reductions", "touch", "evict", "misuse"}) {
    expect_good(2, kTwo, mode);
  }
  expect_good(2, kTwo, "crowded", {"TERRANE_MEMORY=24M"});
}

TEST_F(JobsTest, ObjectsOfTheCLibraryWorkAcrossTwoHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"mutexes", "tries", "kinds", "conditions", "signals", "barriers",
                           "locks", "semaphores", "errors"}) {
    OnHosts::expect_good(2, kTwo, std::string(OBJECTS_PROGRAM) + " " + mode);
    OnHosts::expect_good(4, kTwoByTwo, std::string(OBJECTS_PROGRAM) + " " + mode);
  }
#ifdef TERRANE_HAS_NO_INLINE_ATOMICS
  OnHosts::expect_good(2, kTwo, ATOMICS_PROGRAM);
  OnHosts::expect_good(4, kTwoByTwo, ATOMICS_PROGRAM);
#endif
}

TEST_F(JobsTest, ASmallMemoryOnEachNodeIsEnoughAcrossHosts) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"passive", "refused"}) expect_good(2, kTwo, mode, {"TERRANE_MEMORY=8M"});
  expect_good(3, "--heartbeat 20 -H h0:2,h1", "moved", {"TERRANE_MEMORY=8M"});
}

TEST_F(JobsTest, PagesWorkAcrossFourHosts) {
  if (!make_hosts({.hosts = 4})) return;
  for (const char* mode : {"basics", "homes", "writers", "tracking", "touch", "evict"}) {
    expect_good(4, kFour, mode);
  }
}

TEST_F(JobsTest, NeighboursOnAHostShareMemoryAndTheOthersSendMessages) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* mode : {"basics", "homes", "writers", "tracking", "semaphores", "conditions",
                           "flags", "reductions", "touch", "evict"}) {
    expect_good(4, kTwoByTwo, mode);
  }
  for (const char* source : {"uffd-sync", "uffd-late", "sigsegv"}) {
    expect_good(4, kTwoByTwo, "basics", {std::string("TERRANE_FAULT_SOURCE=") + source});
  }
}

TEST_F(JobsTest, ManyReadersPassOnWhatOneWrites) {
  if (!make_hosts({.hosts = 4})) return;
  constexpr char kEight[] = "--heartbeat 20 -H h0:2,h1:2,h2:2,h3:2";
  const std::string program = std::string(BARRIERS_PROGRAM) + " readers";
  OnHosts::expect_good(8, kEight, program);
  OnHosts::expect_good(8, std::string(kEight) + " --transport ucx", program);
  OnHosts::expect_good(8, kEight, program, {"TERRANE_ONE_SIDED=0"});
}

TEST_F(JobsTest, ExamplesWorkAcrossHosts) {
  if (!make_hosts({.hosts = 4})) return;
  Outcome counted = job(kFour, std::string(COUNTER_PROGRAM) + " 100");
  EXPECT_EQ(counted.out, "4 nodes counted to 400: right\n") << counted.err;
  counted = job(kTwoByTwo, std::string(COUNTER_PROGRAM) + " 100");
  EXPECT_EQ(counted.out, "4 nodes counted to 400: right\n") << counted.err;
}

TEST_F(JobsTest, TooFewPortsAreNoticed) {
  if (!make_hosts({.hosts = 2})) return;
  Outcome outcome = job("-H h0,h1 --port 41000-41001", COUNTER_PROGRAM);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_GT(count(outcome.err, "no port from 41000 to 41001 is free"), 0) << outcome.err;
  outcome = job("-H h0,h1 --port 41000-41003", COUNTER_PROGRAM);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(JobsTest, RandomProgramsAreRightAcrossHosts) {
  if (!make_hosts({.hosts = 4})) return;
  int seed = 20;
  for (const char* hosts : {kTwo, kFour, kTwoByTwo}) {
    Outcome outcome = job(hosts, std::string(STRESS_PROGRAM) + " --seconds 1 --threads 2 --seed " +
                                     std::to_string(++seed));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    EXPECT_EQ(count(outcome.out, ": good"), 1) << outcome.out << outcome.err;
  }
}

TEST_F(JobsTest, RacesAreRightAcrossHostsWithSequentialConsistency) {
  if (!make_hosts({.hosts = 2})) return;
  for (const char* hosts : {kTwo, kTwoByTwo}) {
    Outcome outcome = job(hosts, std::string(SC_STRESS_PROGRAM) + " --seconds 1 --threads 2");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    outcome = job(hosts, SEQUENTIAL_PROGRAM);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  }
}

TEST_F(JobsTest, TheMemoryModelHoldsAcrossHosts) {
  if (!make_hosts({.hosts = 2})) return;
  Outcome outcome = job(kTwoByTwo, LITMUS_PROGRAM " 8");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.out, "WRONG"), 0) << outcome.out;
}

TEST_F(JobsTest, OutputInputAndExitCodesPassBetweenHosts) {
  if (!make_hosts({.hosts = 2})) return;
  std::string node = cluster_test::kNodeProgram;
  Outcome outcome =
      job(std::string(kTwo) + " --tag-output", node + " join exchange:100:0 say:hello @1 exit:7");
  EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
  EXPECT_EQ(count(outcome.out, "[0] hello\n"), 1) << outcome.out;
  EXPECT_EQ(count(outcome.out, "[1] hello\n"), 1) << outcome.out;
}

TEST_F(JobsTest, AHostThatIsDownIsNamed) {
  if (!make_hosts({.hosts = 3})) return;
  hosts().kill_host(2);
  expect_sentence(job("-H h0,h1,h2", "true"), {"h2"});
}

TEST_F(JobsTest, AHostThatNobodyKnowsIsNamed) {
  if (!make_hosts({.hosts = 2})) return;
  expect_sentence(job("-H h0,nowhere", "true"), {"nowhere"});
}

TEST_F(JobsTest, AnInterfaceThatIsNotThereIsToldWithThoseThatAre) {
  if (!make_hosts({.hosts = 2, .links = 2})) return;
  Outcome outcome = job(std::string(kTwo) + " --net ib7", std::string(COUNTER_PROGRAM) + " 10");
  EXPECT_NE(outcome.exit_code, 0);
  for (const char* part : {"ib7", "eth0", "eth1"})
    EXPECT_GT(count(outcome.err, part), 0) << outcome.err;
}

TEST_F(JobsTest, TheSecondInterfaceServesWhereTheFirstIsDown) {
  if (!make_hosts({.hosts = 2, .links = 2})) return;
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kNoCarrier).ok());
  Outcome outcome = job("-H 10.77.1.1,10.77.1.2 --net eth1", std::string(COUNTER_PROGRAM) + " 10");
  EXPECT_EQ(outcome.out, "2 nodes counted to 20: right\n") << outcome.err;
}

TEST_F(JobsTest, ALinkCutInABarrierEndsTheJobOnBothSides) {
  if (!make_hosts({.hosts = 2})) return;
  Launched barrier = start("-H h0,h1 --heartbeat 0.5", std::string(FAULT_PROGRAM) + " --wait");
  ASSERT_TRUE(barrier.wait_for("waiting\n"));
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kSilent).ok());
  expect_sentence(barrier.finish(), {"h1", "no sign of life"});
  expect_empty_hosts();
}

bool is_engine(const Process& process) { return process.name == "job-engine"; }
bool is_guard(const Process& process) {
  return process.words.size() > 1 && process.words[1] == "host-engine";
}

TEST_F(JobsTest, AHostWhoseEngineGetsNoProcessorIsLateAndNotDead) {
  if (!make_hosts({.hosts = 2})) return;
  const std::string program = cluster_test::kNodeProgram;
  Launched job = start("-H h0,h1 --heartbeat 0.3 --death-after 30",
                       program + " join exchange:0:0 say:up sleep:2500 exchange:0:0 leave");
  ASSERT_TRUE(job.wait_for("up\n", 2));
  // Both at once, for either would take the other one for stopped.
  signal_all(1, is_guard, SIGSTOP);
  signal_all(1, is_engine, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  signal_all(1, is_engine, SIGCONT);
  signal_all(1, is_guard, SIGCONT);
  Outcome outcome = job.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(JobsTest, AHostThatIsLateForTooLongIsDeadAndItsKernelIsSaidToAnswer) {
  if (!make_hosts({.hosts = 2})) return;
  const std::string program = cluster_test::kNodeProgram;
  Launched job = start("-H h0,h1 --heartbeat 0.3 --death-after 0.9",
                       program + " join exchange:0:0 say:up hang");
  ASSERT_TRUE(job.wait_for("up\n", 2));
  signal_all(1, is_guard, SIGSTOP);
  signal_all(1, is_engine, SIGSTOP);
  expect_sentence(job.finish(), {"node 1 on host h1", "no sign of life for 0.9 s",
                                 "its kernel answers", "--death-after SECONDS"});
  signal_all(1, is_engine, SIGCONT);
  signal_all(1, is_guard, SIGCONT);
  expect_empty_hosts();
}

TEST_F(JobsTest, ALauncherKilledWhileItsHostsStartLeavesNoProcess) {
  if (!make_hosts({.hosts = 2})) return;
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kSilent).ok());
  Launched job = start("-H h0,h1 --start-timeout 1", "true");
  auto has_engine = [this](std::uint32_t host) {
    auto all = hosts().processes(host);
    return std::any_of(all.begin(), all.end(), is_engine);
  };
  while (!has_engine(1)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (const Process& process : hosts().processes(0)) {
    if (process.name == "terrane") ::kill(process.pid, SIGKILL);
  }
  EXPECT_EQ(job.finish().exit_code, 128 + SIGKILL);
  expect_empty_hosts();
}

}  // namespace
}  // namespace terrane::test_hosts
