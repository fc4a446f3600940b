// Hosts whose memory is limited: nobody exceeds the limit, and no control group stays.

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

class HostsMemoryTest : public OnHosts {
 protected:
  // The folder of the group that a line of /proc/self/cgroup names; empty: none.
  static std::string group(const std::string& line) {
    std::size_t name = line.find('/');
    if (name == std::string::npos) return "";
    bool version_1 = line.find(":memory:") != std::string::npos;
    return (version_1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") +
           line.substr(name, line.find('\n') - name);
  }

  static constexpr char kGroup[] = "grep terrane-hosts- /proc/self/cgroup";
};

bool is_removed(const std::string& folder) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (!std::filesystem::exists(folder)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_F(HostsMemoryTest, AHostThatUsesMoreThanItsLimitLosesThatProcessAlone) {
  if (!make_hosts({.hosts = 2, .memory_size = "64M"})) return;
  std::string fill = "python3 -c 'print(len(bytearray(100 << 20)))'";
  EXPECT_EQ(shell(0, fill).exit_code, 128 + SIGKILL);
  EXPECT_EQ(shell(1, kEnterHost + " h0 \"" + fill + "\"").exit_code, 128 + SIGKILL);
  EXPECT_EQ(shell(0, "python3 -c 'print(len(bytearray(30 << 20)))'").out, "31457280\n");
  EXPECT_EQ(shell(1, "hostname").out, "h1\n");
}

TEST_F(HostsMemoryTest, EachHostHasAGroupAndNoneStays) {
  if (!make_hosts({.hosts = 2, .memory_size = "64M"})) return;
  std::string first = group(shell(0, kGroup).out), second = group(shell(1, kGroup).out);
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(second.empty());
  EXPECT_NE(first, second);
  make_hosts({.hosts = 1});  // in place of those
  EXPECT_TRUE(is_removed(first)) << first;
  EXPECT_TRUE(is_removed(second)) << second;
}

TEST_F(HostsMemoryTest, NoGroupStaysWhenTheirOwnerIsKilled) {
  if (!make_hosts({.hosts = 1, .memory_size = "64M"})) return;
  std::string script = std::string(kGroup) + " && exec sleep 100";
  Launched people({TEST_HOSTS_BINARY, "--memory", "64M", "sh", "-c", script}, {});
  ASSERT_TRUE(people.wait_for("\n"));
  ::kill(people.pid(), SIGKILL);
  std::string folder = group(people.finish().out);
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(is_removed(folder)) << folder;
}

TEST_F(HostsMemoryTest, NoGroupStaysWhenNobodyReadsWhatIsSaidAtTheEnd) {
  if (!make_hosts({.hosts = 1, .memory_size = "64M"})) return;
  std::string script = std::string(TEST_HOSTS_BINARY) + " --memory 64M sh -c '" + kGroup +
                       "; sleep 0.3' 2>&1 | head -n 1";
  std::string folder = group(Launched({"sh", "-c", script}, {}).finish().out);
  ASSERT_FALSE(folder.empty());
  EXPECT_TRUE(is_removed(folder)) << folder;
}

TEST_F(HostsMemoryTest, TheEndSaysHowMuchEachHostUsed) {
  if (!make_hosts({.hosts = 1, .memory_size = "64M"})) return;
  Launched people(
      {TEST_HOSTS_BINARY, "-n", "2", "--memory", "64M", "python3", "-c", "bytearray(40 << 20)"},
      {});
  Outcome outcome = people.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  double used = 0;
  ASSERT_EQ(std::sscanf(outcome.err.c_str(), "h0: at most %lf MiB of 64.0, limit", &used), 1)
      << outcome.err;
  EXPECT_GE(used, 40);
  EXPECT_LE(used, 64);
  EXPECT_EQ(count(outcome.err, "h1: at most "), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "limit reached 0 times, 0 processes killed"), 2) << outcome.err;
}

TEST_F(HostsMemoryTest, TheEndSaysThatAProcessWasKilled) {
  if (!make_hosts({.hosts = 1, .memory_size = "64M"})) return;
  Launched people(
      {TEST_HOSTS_BINARY, "-n", "1", "--memory", "64M", "python3", "-c", "bytearray(100 << 20)"},
      {});
  Outcome outcome = people.finish();
  EXPECT_EQ(outcome.exit_code, 128 + SIGKILL) << outcome.err;
  EXPECT_EQ(count(outcome.err, " 1 processes killed for it"), 1) << outcome.err;
  EXPECT_EQ(count(outcome.err, "limit reached 0 times"), 0) << outcome.err;
}

TEST_F(HostsMemoryTest, ASizeThatIsNoneIsRefused) {
  if (!make_hosts({.hosts = 1, .memory_size = "64M"})) return;
  for (std::string size : {"1M", "some", "-1", "64X"}) {
    Outcome outcome = Launched({TEST_HOSTS_BINARY, "--memory=" + size, "true"}, {}).finish();
    EXPECT_EQ(outcome.exit_code, 77);
    EXPECT_EQ(outcome.err,
              "test_hosts: --memory " + size + ": a number with M or G, 16M at least\n");
  }
}

}  // namespace
}  // namespace terrane::test_hosts
