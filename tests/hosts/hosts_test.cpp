// The test hosts are hosts: what is theirs is theirs alone, and nothing of them stays.

#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "on_hosts.h"
#include "tools/hosts/options.h"

namespace terrane::test_hosts {
namespace {

class HostsTest : public OnHosts {
 protected:
  static constexpr char kListen[] =
      "import socket; s = socket.create_server(('', 7000)); print('up', flush=True)\n"
      "while True: s.accept()[0].sendall(b'hello')";
  // Says what the server at the address says, or that nothing came.
  std::string ask(std::uint32_t from, const std::string& address) const {
    std::string program =
        "import socket\n"
        "try: print(socket.create_connection(('" +
        address +
        "', 7000), 0.3).recv(9).decode())\n"
        "except OSError: print('nothing')";
    return run(from, {"python3", "-c", program}).out;
  }
};

bool ends(pid_t pid) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (::kill(pid, 0) < 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST_F(HostsTest, EachHasNameProcessesAndFilesOfItsOwn) {
  if (!make_hosts({.hosts = 3, .shm_size = "1m"})) return;
  for (std::uint32_t host = 0; host < 3; ++host) {
    EXPECT_EQ(shell(host, "hostname").out, host_name(host) + "\n");
    EXPECT_EQ(
        shell(host, "ls -A /dev/shm /tmp; echo x > /dev/shm/x; echo x > /tmp/x").out.find("x\n"),
        std::string::npos);
    EXPECT_EQ(shell(host, "cd /sys/class/net && echo *").out, "eth0 lo\n");
  }
  EXPECT_NE(shell(0, "head -c 2000000 /dev/zero > /dev/shm/full").exit_code, 0);
  Launched sleeper = launch(1, {"sh", "-c", "echo up; exec sleep 100"});
  ASSERT_TRUE(sleeper.wait_for("up\n"));
  EXPECT_EQ(hosts().processes(0).size(), 0u);
  auto there = hosts().processes(1);
  ASSERT_EQ(there.size(), 1u);
  EXPECT_TRUE(there[0].words.back().ends_with("100")) << there[0].words.back();
  EXPECT_EQ(shell(2, "set -- /proc/[0-9]*; echo $#").out, "2\n");  // the first one, and sh
  EXPECT_EQ(shell(0, "test -e " TEST_HOSTS_BINARY).exit_code, 0);
}

TEST_F(HostsTest, TheyReachEachOtherByNameAndNobodyElse) {
  if (!make_hosts({.hosts = 3, .links = 2})) return;
  Launched server = launch(1, {"python3", "-c", kListen});
  ASSERT_TRUE(server.wait_for("up\n"));
  EXPECT_EQ(ask(0, "h1"), "hello\n");
  EXPECT_EQ(ask(2, "10.77.1.2"), "hello\n");
  EXPECT_EQ(ask(1, "h0"), "nothing\n");
  EXPECT_EQ(ask(0, "192.0.2.1"), "nothing\n");
  EXPECT_EQ(shell(0, "PATH=$PATH:/sbin:/usr/sbin ip route | cut -d' ' -f1").out,
            "10.77.0.0/24\n10.77.1.0/24\n");
}

TEST_F(HostsTest, ACutLinkCarriesNothingUntilItIsMended) {
  if (!make_hosts({.hosts = 2, .links = 2})) return;
  Launched server = launch(1, {"python3", "-c", kListen});
  ASSERT_TRUE(server.wait_for("up\n"));
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kNoCarrier).ok());
  EXPECT_EQ(ask(0, "10.77.0.2"), "nothing\n");
  EXPECT_EQ(ask(0, "10.77.1.2"), "hello\n");
  EXPECT_EQ(shell(1, "cat /sys/class/net/eth?/carrier").out, "0\n1\n");
  ASSERT_TRUE(hosts().set_link(1, 0, LinkState::kUp).ok());
  std::string said;  // the kernel looks at carriers once a second
  for (int tries = 0; tries < 100 && said != "hello\n"; ++tries) said = ask(0, "10.77.0.2");
  EXPECT_EQ(said, "hello\n");
  ASSERT_TRUE(hosts().set_link(0, 0, LinkState::kSilent).ok());
  EXPECT_EQ(ask(0, "10.77.0.2"), "nothing\n");
  EXPECT_EQ(shell(0, "cat /sys/class/net/eth0/carrier").out, "1\n");
  ASSERT_TRUE(hosts().set_link(0, 0, LinkState::kUp).ok());
  EXPECT_EQ(ask(0, "10.77.0.2"), "hello\n");
  auto wrong = hosts().set_link(1, 2, LinkState::kUp);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "test hosts have no link 2");
}

TEST_F(HostsTest, IsolatedHostsReachTheirOwnClusterAlone) {
  HostOptions options{.clusters = "2x3", .isolate = 2};
  ASSERT_TRUE(parse_clusters(options).ok());
  if (!make_hosts(options)) return;
  Launched inner = launch(2, {"python3", "-c", kListen});
  Launched outer = launch(4, {"python3", "-c", kListen});
  Launched other_inner = launch(5, {"python3", "-c", kListen});
  for (Launched* server : {&inner, &outer, &other_inner}) ASSERT_TRUE(server->wait_for("up\n"));
  EXPECT_EQ(ask(0, "h2"), "hello\n");
  EXPECT_EQ(ask(3, "h5"), "hello\n");
  EXPECT_EQ(ask(1, "h4"), "hello\n");
  for (std::uint32_t outside : {3u, 5u}) EXPECT_EQ(ask(outside, "h2"), "nothing\n") << outside;
  for (const char* outside : {"h4", "h5"}) EXPECT_EQ(ask(2, outside), "nothing\n") << outside;
}

TEST_F(HostsTest, TheWayBetweenTwoClustersIsCutAndMended) {
  HostOptions options{.clusters = "3x1"};
  ASSERT_TRUE(parse_clusters(options).ok());
  if (!make_hosts(options)) return;
  Launched server = launch(1, {"python3", "-c", kListen});
  ASSERT_TRUE(server.wait_for("up\n"));
  for (LinkState state : {LinkState::kSilent, LinkState::kNoCarrier}) {
    ASSERT_TRUE(hosts().set_crossing(1, 0, state).ok());
    EXPECT_EQ(ask(0, "h1"), "nothing\n");
    EXPECT_EQ(ask(2, "h1"), "hello\n");
    ASSERT_TRUE(hosts().set_crossing(0, 1, LinkState::kUp).ok());
    EXPECT_EQ(ask(0, "h1"), "hello\n");
  }
  auto wrong = hosts().set_crossing(0, 3, LinkState::kUp);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "test hosts have no way from cluster 0 to cluster 3");
}

TEST_F(HostsTest, RatesAreSetOnInterfaces) {
  if (!make_hosts({.hosts = 1, .rate = "1gbit"})) return;
  std::string said = shell(0, "PATH=$PATH:/sbin:/usr/sbin tc qdisc show dev eth0").out;
  EXPECT_NE(said.find("tbf"), std::string::npos) << said;
  EXPECT_NE(said.find("rate 1Gbit"), std::string::npos) << said;
}

TEST_F(HostsTest, ALoginIsLikeThatOfSsh) {
  if (!make_hosts({.hosts = 2})) return;
  std::string enter = "SECRET=1 " + kEnterHost + " -x -o BatchMode=yes h1 ";
  EXPECT_EQ(shell(0, enter + "'echo $SECRET; hostname' '&& exit' 7").out, "\nh1\n");
  EXPECT_EQ(shell(0, enter + "'echo hidden; hostname' '&& exit' 7").exit_code, 7);
  EXPECT_EQ(shell(0, enter + "'kill -9 $$'").exit_code, 128 + 9);
  EXPECT_EQ(shell(0, "echo words | " + enter + "cat").out, "words\n");
  EXPECT_EQ(shell(0, kEnterHost + " 10.77.0.2 hostname").out, "h1\n");
  Outcome missing = shell(0, kEnterHost + " h7 true");
  EXPECT_EQ(missing.exit_code, 255);
  EXPECT_EQ(missing.err, "enter_host: there is no test host h7\n");
}

TEST_F(HostsTest, ALoginsCommandOutlivesItAndACommandOfOursDoesNot) {
  if (!make_hosts({.hosts = 2})) return;
  {
    Launched login = launch(0, {kEnterHost, "h1", "echo up; exec sleep 100"});
    ASSERT_TRUE(login.wait_for("up\n"));
  }
  for (int tries = 0; tries < 5000 && !hosts().processes(0).empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(hosts().processes(0).size(), 0u);
  EXPECT_EQ(hosts().processes(1).size(), 1u);
}

TEST_F(HostsTest, AHostThatWasKilledIsDown) {
  if (!make_hosts({.hosts = 2})) return;
  Launched sleeper = launch(1, {"sh", "-c", "echo up; exec sleep 100"});
  ASSERT_TRUE(sleeper.wait_for("up\n"));
  pid_t inside = hosts().processes(1).at(0).pid;
  hosts().kill_host(1);
  EXPECT_TRUE(ends(inside));
  EXPECT_NE(sleeper.finish().exit_code, 0);
  EXPECT_EQ(hosts().processes(1).size(), 0u);
  EXPECT_EQ(shell(0, kEnterHost + " h1 true").exit_code, 255);
  EXPECT_EQ(shell(0, "hostname").out, "h0\n");
}

// The program for people, by which the demo runs too.
void expect_nothing_left(bool as_nobody) {
  std::string script = kEnterHost + " h1 'echo up; exec sleep 100' & " + kEnterHost +
                       " h0 'echo up; exec sleep 100'";
  Launched people({TEST_HOSTS_BINARY, "-n", "2", "sh", "-c", script}, {.as_nobody = as_nobody});
  if (!people.wait_for("up\n", 2)) {
    Outcome done = people.finish();
    if (as_nobody && done.exit_code == 77) GTEST_SKIP() << done.err;
    FAIL() << done.err;
  }
  // Logins do not hand their environment on, so that marks show the rest of them alone.
  EXPECT_GE(people.marked_processes().size(), 3u);
  ::kill(people.pid(), SIGKILL);
  EXPECT_GE(people.ms_until_all_gone(), 0);
  EXPECT_EQ(people.finish().exit_code, 128 + SIGKILL);  // nobody holds its output any more
}

TEST_F(HostsTest, NothingIsLeftWhenTheirOwnerIsKilled) {
  if (!make_hosts({.hosts = 1})) return;
  expect_nothing_left(false);
}

TEST_F(HostsTest, WhoeverHasUserNamespacesMayMakeThem) {
  if (!make_hosts({.hosts = 1})) return;
  if (!cluster_test::is_root()) GTEST_SKIP() << "only root can become another user";
  expect_nothing_left(true);
}

}  // namespace
}  // namespace terrane::test_hosts
