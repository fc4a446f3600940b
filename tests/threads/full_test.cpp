// Jobs at the limits of their memory: what goes on is right, and what cannot go on ends with one
// sentence.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "beside_plain.h"

namespace terrane::test_hosts {
namespace {

const std::string kProgram = PROGRAM;

Outcome run_full(const std::string& options, const std::string& how) {
  Outcome outcome = finish(threads(options, kProgram + " " + how));
  EXPECT_FALSE(outcome.timed_out) << options << " " << how << " hangs";
  return outcome;
}

void expect_right(const std::string& options, const std::string& how) {
  SCOPED_TRACE(options + " " + how);
  Outcome outcome = run_full(options, how);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("right\n"), std::string::npos) << outcome.out << outcome.err;
}

void expect_sentence(const Outcome& outcome, const std::string& sentence) {
  EXPECT_NE(outcome.err.find(sentence), std::string::npos) << outcome.err;
  EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
}

TEST(FullTest, ABlockThatGrowsIsRightAndOneThatNobodyCanHoldIsRefused) {
  for (const char* options : {"-n 2 --memory 32M", "-n 3 --memory 32M --placement 1"}) {
    Outcome outcome = run_full(options, "grows 20");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "errno 12\nright\n") << outcome.err;
    expect_sentence(outcome, "is larger than the memory of all nodes together");
  }
}

TEST(FullTest, ARequestThatAloneCannotFitIsRefusedByEveryCall) {
  const std::string refused =
      "malloc errno 12\ncalloc errno 12\nrealloc errno 12\naligned_alloc errno 12\n"
      "posix_memalign 12\nmmap errno 12\nright\n";
  for (const char* options : {"-n 1 --memory 64M", "-n 2 --memory 32M --placement 1"}) {
    Outcome outcome = run_full(options, "asks 65");
    EXPECT_EQ(outcome.out, refused) << outcome.err;
    expect_sentence(outcome, "a region of 65 MiB is larger than the memory of all nodes");
    EXPECT_EQ(run_full(options, "asks 60").out, "malloc gives it\n");
  }
}

TEST(FullTest, AllNodesFullInTheMiddleOfReallocEndTheJobWithASentence) {
  Outcome outcome = run_full("-n 2 --memory 32M", "regrows 44");
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  expect_sentence(outcome, "out of memory for shared page");
  for (const char* part : {"node 0 (", "node 1 (", "raise --memory", "use more nodes"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(FullTest, MappingsThatGrowLockedMemoryAndStacksGoWhereThereIsRoom) {
  expect_right("-n 2 --memory 32M", "mapped 48");
  expect_right("-n 2 --memory 32M", "locks 48");
  EXPECT_EQ(run_full("-n 2 --memory 32M", "locks 1").out, "mlock -1 11\nright\n");
  expect_right("-n 3 --memory 32M --placement 1", "stacks 60");
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_right(std::string("-n 2 --memory 32M --fault-source ") + source, "mapped 40");
}

TEST(FullTest, MemoryCountsWhenItIsTouched) {
  for (const char* options : {"-n 1 --memory 32M", "-n 1 --memory 16M", "-n 2 --memory 32M",
                              "-n 3 --memory 16M --placement 1"})
    for (const char* how : {"sparse 8", "small 8", "unreserved 8"}) expect_right(options, how);
  expect_right("-n 2 --memory 32M", "sparse 44");
  expect_right("-n 2 --memory 32M", "small 44");
  for (const char* source : {"uffd-async", "uffd-sync", "sigsegv"})
    expect_right(std::string("-n 2 --memory 16M --fault-source ") + source, "sparse 8");
  for (const char* options : {"-n 1 --memory 32M", "-n 2 --memory 32M"}) {
    Outcome outcome = run_full(options, "sparse 160");
    EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
    expect_sentence(outcome, "out of memory for shared page");
  }
}

class FullHostsTest : public OnHosts {
 protected:
  Launched start_on(const std::string& options, const std::string& how) const {
    return launch(0, threads("--heartbeat 20 " + options, kProgram + " " + how));
  }
};

TEST_F(FullHostsTest, ALimitBelowTheProgramsDataIsSaidWhenItIsReached) {
  if (!make_hosts({.hosts = 2})) return;
  EXPECT_EQ(start_on("-H h0 --lend h1 --memory 2M", "sparse 1").finish().out, "right\n");
  for (const char* how : {"small 8", "sparse 8"}) {
    Outcome outcome = start_on("-H h0 --lend h1 --memory 2M", how).finish();
    EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
    expect_sentence(outcome, "out of memory for shared page");
    EXPECT_NE(outcome.err.find("raise --memory"), std::string::npos) << outcome.err;
  }
  Outcome outcome = start_on("-H h0 --lend h9", "locks 4").finish();
  expect_sentence(outcome, "host h9 cannot be reached");
  EXPECT_NE(outcome.exit_code, 0);
}

TEST_F(FullHostsTest, TheDoctorSaysWhatAJobOnTheseHostsCouldHold) {
  if (!make_hosts({.hosts = 2, .memory_size = "128M"})) return;
  Outcome outcome = run(0, {std::string(cluster_test::kTerrane), "doctor", "-H", "h0,h1:2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("a job on 2 hosts could hold "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("h0 1"), std::string::npos) << outcome.out;
  outcome = run(0, {std::string(cluster_test::kTerrane), "info"});
  EXPECT_NE(outcome.out.find("memory         a job could hold 1"), std::string::npos);
  outcome = run(0, {std::string(cluster_test::kTerrane), "doctor", "-H", "h9"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_NE(outcome.err.find("host h9 cannot be reached"), std::string::npos) << outcome.err;
}

// As who shrinks a running job does: first the limit that kills nobody, then the other one.
bool lower(const std::string& folder, std::uint64_t bytes) {
  bool is_first = std::filesystem::exists(folder + "/memory.limit_in_bytes");
  std::string used = folder + (is_first ? "/memory.usage_in_bytes" : "/memory.current");
  std::ofstream(folder + (is_first ? "/memory.soft_limit_in_bytes" : "/memory.high")) << bytes;
  for (int tries = 0; tries < 3000; ++tries) {
    std::uint64_t now = 0;
    std::ifstream(used) >> now;
    if (now < bytes) {
      std::ofstream(folder + (is_first ? "/memory.limit_in_bytes" : "/memory.max")) << bytes;
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// How often each of the tests below does it; TERRANE_ROUNDS=20 makes a campaign of them.
int rounds() {
  const char* text = std::getenv("TERRANE_ROUNDS");
  return text == nullptr ? 1 : std::atoi(text);
}

TEST_F(FullHostsTest, AHostWhoseLimitIsLoweredGivesHomesAway) {
  for (int round = 0; round < rounds(); ++round) {
    SCOPED_TRACE(round);
    std::string options = round % 2 == 0 ? "-H h0,h1,h2 --placement 1" : "-H h0 --lend h1";
    std::string how = round % 4 < 2 ? "shrinks 60" : "churns 60";
    if (!make_hosts({.hosts = 3, .memory_size = "128M"})) return;
    std::string line = shell(0, "grep terrane-hosts- /proc/self/cgroup").out;
    bool is_first = line.find(":memory:") != std::string::npos;
    std::string folder = (is_first ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") +
                         line.substr(line.find('/'), line.find('\n') - line.find('/'));
    Launched job = start_on(options, how);
    ASSERT_TRUE(job.wait_for("filled")) << job.finish().err;
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 167 % 2000));
    std::uint64_t mib = 50 + round * 7 % 30;
    EXPECT_TRUE(lower(folder, mib << 20)) << options;
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << options << outcome.err;
    EXPECT_EQ(outcome.exit_code, 0) << options << outcome.err;
    EXPECT_EQ(outcome.out, "filled\nright\n") << options << outcome.err;
    std::printf("round %d: %s %s, limit %d MiB: %s", round, options.c_str(), how.c_str(),
                static_cast<int>(mib), outcome.exit_code == 0 ? "right\n" : outcome.err.c_str());
  }
}

TEST_F(FullHostsTest, ANodeThatDiesWhileHomesMoveEndsTheJobWithASentence) {
  for (int round = 0; round < rounds(); ++round) {
    SCOPED_TRACE(round);
    if (!make_hosts({.hosts = 3})) return;
    auto victim = static_cast<std::uint32_t>((round + 1) % 3);
    Launched job = start_on("-H h0,h1 --lend h2 --placement 1 --memory 32M", "churns 72");
    ASSERT_TRUE(job.wait_for("filled")) << job.finish().err;
    std::this_thread::sleep_for(std::chrono::milliseconds(round * 167 % 3000));
    shell(victim, "kill -9 $(pidof threads_full_program)");
    Outcome outcome = job.finish();
    EXPECT_FALSE(outcome.timed_out) << outcome.err;
    EXPECT_NE(outcome.exit_code, 0);
    expect_sentence(outcome, "was killed by SIGKILL");
    EXPECT_NE(outcome.err.find(fmt::format("on h{}", victim)), std::string::npos) << outcome.err;
    std::printf("round %d: h%u dies: %s", round, victim, outcome.err.c_str());
  }
}

}  // namespace
}  // namespace terrane::test_hosts
