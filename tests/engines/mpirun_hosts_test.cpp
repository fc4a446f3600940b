// Nodes that Open MPI's mpirun starts on several hosts, and `terrane run --engine mpirun`.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "../hosts/on_hosts.h"

namespace terrane::test_hosts {
namespace {

const std::string kNode = NODE_BINARY;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class MpirunHostsTest : public OnHosts {
 protected:
  bool begin() {
    if (::access(MPIRUN, X_OK) == 0) return make_hosts({.hosts = 2});
    [] { GTEST_SKIP() << "Open MPI is not installed (Debian: apt install openmpi-bin)"; }();
    return false;
  }

  // Two nodes on each host. variable: that all nodes get.
  Launched mpirun(const std::string& program, const std::string& arguments,
                  const std::string& variable = "") const {
    std::vector<std::string> command{MPIRUN,          "-H",       "h0:2,h1:2", "--mca",
                                     "plm_rsh_agent", kEnterHost, "--mca",     "oob_tcp_if_include",
                                     "eth0"};
    if (cluster_test::is_root()) command.emplace_back("--allow-run-as-root");
    if (!variable.empty()) command.insert(command.end(), {"-x", variable});
    command.push_back(program);
    for (const std::string& word : cluster_test::words(arguments)) command.push_back(word);
    return launch(0, command);
  }

  std::size_t nodes_left(std::uint32_t host) {
    std::size_t count = 0;
    for (const Process& process : hosts().processes(host)) {
      bool ours = process.name.starts_with("cluster_node") || process.name == "job-engine";
      if (ours && process.state != 'Z') ++count;
    }
    return count;
  }
  // Within five seconds.
  bool nobody_is_left() {
    for (int tries = 0; tries < 500; ++tries) {
      if (nodes_left(0) + nodes_left(1) == 0) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
};

TEST_F(MpirunHostsTest, ItsProcessesOnTwoHostsAreOneJob) {
  if (!begin()) return;
  Outcome done = mpirun(COUNTER_BINARY, "100").finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 400: right\n");
  done = mpirun(kNode, "join exchange:100000:0 exchange:10:0 @3 show:place @all leave").finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "node 3 of 4, on host 2, news yes\n");
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, ItsHostsFormClustersAsAVariableOrAFileSays) {
  if (!begin()) return;
  constexpr char kShow[] = "join @3 show:clusters @all leave";
  EXPECT_EQ(mpirun(kNode, kShow).finish().out, "clusters: 0 0 0 0\n");
  EXPECT_EQ(mpirun(kNode, kShow, "TERRANE_CLUSTERS=a:h0/b:h1").finish().out, "clusters: 0 0 1 1\n");
  EXPECT_EQ(shell(0,
                  "echo '[[clusters]]\nname = \"a\"\nhosts = [\"h1\"]\n[[clusters]]\nname = "
                  "\"b\"\nhosts = [\"h0\"]' > /tmp/job.toml")
                .exit_code,
            0);
  EXPECT_EQ(mpirun(kNode, kShow, "TERRANE_TOPOLOGY=/tmp/job.toml").finish().out,
            "clusters: 0 0 1 1\n");
  Outcome done = mpirun(COUNTER_BINARY, "100", "TERRANE_CLUSTERS=a:h0/b:h1").finish();
  EXPECT_EQ(done.out, "4 nodes counted to 400: right\n") << done.err;
  done = mpirun(kNode, "join", "TERRANE_CLUSTERS=a:h0").finish();
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "TERRANE_CLUSTERS: host \"h1\" is in no cluster; add it to one of a"))
      << done.out;
  shell(0, "echo '[[gateways]]\ncluster = \"a\"\nhost = \"h1\"' >> /tmp/job.toml");
  done = mpirun(kNode, "join", "TERRANE_TOPOLOGY=/tmp/job.toml").finish();
  EXPECT_TRUE(holds(done.out, "mpirun and srun start no gateways")) << done.out;
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, ADeathOnOneHostEndsAllAndIsToldWithItsHost) {
  if (!begin()) return;
  Launched job = mpirun(kNode, "join exchange:10:0 @3 kill:9 @0 hang @1 hang @2 hang");
  Outcome done = job.finish();
  EXPECT_EQ(done.exit_code, 128 + SIGKILL);
  EXPECT_TRUE(holds(done.err, "terrane: node 3 (process ")) << done.err;
  EXPECT_TRUE(holds(done.err, " on h1) was killed by SIGKILL")) << done.err;
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, AProcessThatEndsBeforeItJoinsIsNamedByItsHost) {
  if (!begin()) return;
  Outcome done =
      mpirun(kNode, "@3 exit:0 @0 sleep:500 join @1 sleep:500 join @2 sleep:500 join").finish();
  EXPECT_NE(done.exit_code, 0);
  EXPECT_TRUE(holds(done.out, "join failed: process 3 of the job ended on host h1")) << done.out;
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, ACutLinkEndsTheNodesOfBothHosts) {
  if (!begin()) return;
  Launched job = mpirun(kNode, "join exchange:10:0 say:up hang");
  ASSERT_TRUE(job.wait_for("up", 4));
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kSilent));
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, NoNodeOutlivesAKilledMpirunOnEitherHost) {
  if (!begin()) return;
  Launched job = mpirun(kNode, "join exchange:10:0 say:up hang");
  ASSERT_TRUE(job.wait_for("up", 4));
  for (const Process& process : hosts().processes(0)) {
    if (process.name.starts_with("mpirun")) ::kill(process.pid, SIGKILL);
  }
  EXPECT_TRUE(nobody_is_left());
}

TEST_F(MpirunHostsTest, TerraneRunStartsItsEnginesByMpirun) {
  if (!begin()) return;
  std::vector<std::string> command{TERRANE_BINARY, "run",       "--engine",     "mpirun",
                                   "-H",           "h0:2,h1:2", COUNTER_BINARY, "100"};
  Outcome done = launch(0, command).finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "4 nodes counted to 400: right\n");
  command = {TERRANE_BINARY, "run",           "--engine",  "mpirun", "-H",
             "h0:2,h1:2",    "--clusters",    "a:h0/b:h1", kNode,    "join",
             "@3",           "show:clusters", "@all",      "leave"};
  done = launch(0, command).finish();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "clusters: 0 0 1 1\n");
  command = {TERRANE_BINARY, "run",  "--engine",      "mpirun", "-H",     "h0:2,h1:2",
             kNode,          "join", "exchange:10:0", "@2",     "exit:5", "@0",
             "hang",         "@1",   "hang",          "@3",     "hang"};
  done = launch(0, command).finish();
  EXPECT_EQ(done.exit_code, 5) << done.err;
  EXPECT_TRUE(holds(done.err, " on h1) exited with code 5")) << done.err;
  EXPECT_TRUE(nobody_is_left());
}

}  // namespace
}  // namespace terrane::test_hosts
