// Gateways that are started by hand, start late, or have a wrong key or version; and what passes on
// the wire.
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "on_clusters.h"

namespace terrane::test_hosts {
namespace {

class GatewayStartTest : public OnClusters {
 protected:
  static constexpr char kByHand[] =
      "[[clusters]]\nname = 'a'\nhosts = ['h0', 'h1']\n"
      "[[clusters]]\nname = 'b'\nhosts = ['h2', 'h3']\n"
      "[[gateways]]\ncluster = 'a'\nhost = 'h0'\nport = 7100\n"
      "[[gateways]]\ncluster = 'b'\nname = 'gb'\nby_hand = true\n";
  static constexpr char kRun[] =
      "--heartbeat 20 --topology /tmp/hand.toml --key /tmp/key -H h0,h1,h2,h3";

  // The key of the job on the first host, as a copy that only its owner reads on another.
  void copy_key(std::uint32_t host) {
    std::string key = shell(0, "cat /tmp/key").out;
    EXPECT_EQ(shell(host, "umask 077; echo " + key.substr(0, key.find('\n')) + " > /tmp/key").out,
              "");
  }
  // What a host reads on its network of a word that the last node prints, with options of the job.
  std::string read_by(std::uint32_t host, const std::string& options) {
    Launched capture = launch(host, {"python3", "-c", kCapture});
    EXPECT_TRUE(capture.wait_for("captures\n"));
    Launched said = start(options, std::string(cluster_test::kNodeProgram) +
                                       " join exchange:0:0 @3 say:word-in-the-clear @all leave");
    Outcome outcome = said.finish();
    EXPECT_EQ(count(outcome.out, "word-in-the-clear\n"), 1) << outcome.out << outcome.err;
    run(3, {"python3", "-c",
            "import socket\n"
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'the-capture-ends', ('" +
                host_name(host) + "', 9))"});
    EXPECT_EQ(capture.finish().exit_code, 0);
    return capture.out();
  }
  static constexpr char kCapture[] =
      "import socket\n"
      "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n"
      "s.bind(('eth0', 0)); print('captures', flush=True)\n"
      "while True:\n"
      "  p = s.recv(65536)\n"
      "  if b'the-capture-ends' in p: break\n"
      "  if b'word-in-the-clear' in p:\n"
      "    print('seen', socket.inet_ntoa(p[26:30]), socket.inet_ntoa(p[30:34]), flush=True)";
  // What all strangers that are there at once may take of a gateway's memory.
  static constexpr std::uint64_t kStrangersMemory = std::uint64_t{32} << 20;

  // Of a process: the most memory that it had, in bytes.
  static std::uint64_t most_memory(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
    return 0;
  }
  // ... the ports that it listens on.
  static std::vector<int> listening_ports(pid_t process) {
    std::set<std::string> sockets;
    std::error_code failed;
    for (const auto& open :
         std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process), failed))
      sockets.insert(std::filesystem::read_symlink(open.path(), failed).string());
    std::vector<int> ports;
    for (const char* family : {"tcp", "tcp6"}) {
      std::ifstream table(fmt::format("/proc/{}/net/{}", process, family));
      std::string line, local, state, inode, skipped;
      std::getline(table, line);  // the heading
      while (std::getline(table, line)) {
        std::istringstream words(line);
        words >> skipped >> local >> skipped >> state;
        for (int field = 4; field < 10; ++field) words >> inode;
        if (state == "0A" && sockets.contains("socket:[" + inode + "]"))
          ports.push_back(std::stoi(local.substr(local.find(':') + 1), nullptr, 16));
      }
    }
    return ports;
  }
  Launched gateway(std::uint32_t host, const std::string& options) {
    return launch(host,
                  cluster_test::words(std::string(cluster_test::kTerrane) + " gateway " + options));
  }
};

TEST_F(GatewayStartTest, AGatewayStartedByHandJoinsItsCluster) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  for (const char* more : {"", " --encrypt"}) {
    Launched job = start(std::string(kRun) + more, PAGES_PROGRAM " basics");
    for (int tries = 0; tries < 5000 && gateway_on(0) < 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    copy_key(2);
    Launched by_hand = gateway(2, std::string("--name gb --via h0:7100 --key /tmp/key") + more);
    Outcome outcome = job.finish();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
    EXPECT_EQ(by_hand.finish().exit_code, 0) << by_hand.err();
    expect_clean();
  }
}

TEST_F(GatewayStartTest, AGatewayThatIsMissingIsNamed) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  expect_one_sentence(job(std::string(kRun) + " --start-timeout 1", "true"),
                      {"gateway gb", "terrane gateway --name gb", "--start-timeout"});
}

TEST_F(GatewayStartTest, AWrongKeyIsRefusedOnBothSides) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/hand.toml", kByHand);
  shell(2, "umask 077; head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \\n' > /tmp/key");
  Launched job = start(std::string(kRun) + " --start-timeout 4", "true");
  Outcome refused = gateway(2, "--name gb --via h0:7100 --key /tmp/key --dial-ms 2000").finish();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(count(refused.err, "\n"), 1) << refused.err;
  EXPECT_GT(count(refused.err, "gateway gb reaches no other one"), 0) << refused.err;
  expect_one_sentence(job.finish(), {"gateway gb"});
}

// 10 Gbit/s and 20 ms there and back hold 25 MB, of which a window is 1.5 times as much.
TEST_F(GatewayStartTest, GatewaysAndEnginesGetTheWindowThatFillsTheLink) {
  if (!make_clusters("2x2")) return;
  write_file("/tmp/links.toml",
             "[[clusters]]\nname = 'a'\nhosts = ['h0', 'h1']\n"
             "[[clusters]]\nname = 'b'\nhosts = ['h2', 'h3']\n"
             "[[links]]\nbetween = ['a', 'b']\nbandwidth = '10gbit'\nlatency = '10ms'\n");
  const std::string run =
      "-v --heartbeat 20 --topology /tmp/links.toml --gateways a:h0/b:h2 -H h0,h1,h2,h3";
  Outcome outcome = job(run, PAGES_PROGRAM " basics");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.err, "--window 37500000"), 4) << outcome.err;
  for (const char* line :
       {"cluster b: hosts h2, h3\n", "gateway h2 of cluster b: on host h2\n",
        "link between a and b: 10 Gbit/s, 10 ms one way\n", "37.5 MB of each pair of nodes"})
    EXPECT_EQ(count(outcome.err, line), 1) << line << outcome.err;
  outcome = job(run + " --memory 96M", PAGES_PROGRAM " basics");
  EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
  EXPECT_EQ(count(outcome.err, "--window 4194304"), 4) << "as without figures" << outcome.err;
}

TEST_F(GatewayStartTest, WhatIsWrongIsSaidInASentence) {
  if (!make_clusters("2x2")) return;
  const std::string clusters = "-H h0,h1,h2,h3 --clusters a:h0,h1/b:h2,h3 ";
  const std::pair<std::string, const char*> kRuns[] = {
      {"-H h0,h1,h2,h3 --gateways a:h0/b:h2", "there are none; add [[clusters]] or --clusters"},
      {clusters + "--gateways a:h0", "cluster \"b\" has no gateway; add one to it"},
      {clusters + "--gateways a:h0/c:h2", "there is no cluster \"c\"; there are a, b"},
      {clusters + "--gateways a:h0/b:h0", "'h0' is there twice"},
      {clusters + "--gateways a:h0/b:nowhere", "gateway nowhere on host nowhere"},
      {clusters + "--gateways a:h0/b:h2 --transport ucx", "through gateways alone; leave it out"},
      {clusters + "--gateways a:h0/b:h2 --key /no/key", "--key /no/key: No such file"}};
  for (const auto& [options, sentence] : kRuns)
    expect_one_sentence(job(options, "true"), {sentence});
  write_file("/tmp/hand.toml", kByHand);
  shell(0,
        "umask 077; echo x > /tmp/bad; head -c 16 /dev/urandom | od -An -tx1 | "
        "tr -d ' \\n' > /tmp/key; cp /tmp/key /tmp/open; chmod 644 /tmp/open");
  const std::pair<const char*, const char*> kGateways[] = {
      {"--name x", "--via HOST:PORT"},
      {"--name x --via h0:71", "--key FILE"},
      {"--name x --via h0:71 --key /tmp/bad", "is no key"},
      {"--name x --via h0:71 --key /tmp/open", "chmod 600 /tmp/open"},
      {"--name x --via h0:0 --key /tmp/key", "--via h0:0: give it as HOST:PORT"},
      {"--name x --via h0:71 --key /tmp/key --ports z", "--ports z: must be ports from"},
      {"--name x --via h0:71 --key /tmp/key --dial-ms 500", "10.77.0.1 (Connection refused)"}};
  for (const auto& [options, sentence] : kGateways)
    expect_one_sentence(gateway(0, options).finish(), {sentence});
}

// Between clusters nothing is readable; with --encrypt nor is it between an engine and its gateway.
TEST_F(GatewayStartTest, WhatPassesALinkCannotBeRead) {
  if (!make_clusters("2x2")) return;
  for (bool encrypts : {false, true}) {
    std::string seen = read_by(2, std::string(kTwo) + (encrypts ? " --encrypt" : ""));
    EXPECT_EQ(count(seen, "seen 10.77.4.4 10.77.4.3\n") > 0, !encrypts) << seen;
    EXPECT_EQ(count(seen, "seen") > 0, !encrypts) << seen;
    EXPECT_EQ(count(seen, "10.77.0."), 0) << seen;
  }
}

TEST_F(GatewayStartTest, EncryptedHostsOfOneNetworkSendNothingThatCanBeRead) {
  if (!make_hosts({.hosts = 4})) return;
  const std::string hosts = "--heartbeat 20 -H h0,h1,h2,h3 ";
  EXPECT_GT(count(read_by(0, hosts), "seen"), 0);
  EXPECT_EQ(read_by(0, hosts + "--encrypt"), "captures\n");
  Outcome pages = job("--heartbeat 20 -H h0:2,h1:2,h2 -n 5 --encrypt", PAGES_PROGRAM " basics");
  EXPECT_EQ(pages.exit_code, 0) << pages.err;
  EXPECT_EQ(count(pages.out, "good"), 5) << pages.out << pages.err;
  const std::pair<std::string, const char*> kRuns[] = {
      {"-H h0,h1 --encrypt --clusters a:h0/b:h1", "leave out --clusters and [[clusters]]"},
      {"-H h1,h2 --encrypt", "run the command on one of the job's hosts"},
      {"-H h0,h1 --encrypt --guests 1", "leave out --guests"},
      {"-H h0,h1 --encrypt --transport ucx", "nodes of different hosts reach each other through"},
      {"-H h0,h1 --encrypt --engine mpirun", "started by ssh are served; leave out --engine"}};
  for (const auto& [options, sentence] : kRuns)
    expect_one_sentence(job(options, "true"), {sentence});
}

// Half of them send nonsense, the others nothing; some stay. Both entrances of the gateway are hit.
TEST_F(GatewayStartTest, StrangersAtBothEntrancesDoNotHarmTheJob) {
  if (!make_clusters("2x2")) return;
  const char* wanted = std::getenv("TERRANE_GATEWAY_STRANGERS");
  const std::string strangers = wanted != nullptr ? wanted : "300";
  Launched running = start(kTwo, FAULT_PROGRAM " --rounds 300");
  ASSERT_TRUE(running.wait_for("up\n"));
  const std::string program =
      "import os, socket\n"
      "ports = [int(l.split()[1].split(':')[1], 16) for f in ('tcp', 'tcp6')\n"
      "         for l in open('/proc/net/' + f) if l.split()[3] == '0A']\n"
      "kept = []\n"
      "for n in range(" +
      strangers +
      "):\n"
      "  for port in ports:\n"
      "    try:\n"
      "      s = socket.create_connection(('h2', port), 2)\n"
      "      if n % 2: s.send(os.urandom(1 + 97 * n % 3000))\n"
      "      if n % 3 == 0: kept.append(s)\n"
      "      if len(kept) > 200: kept.pop(0).close()\n"
      "    except OSError: pass\n"
      "print(len(ports), 'ports')";
  Outcome outcome = run(2, {"python3", "-c", program});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_GE(std::atoi(outcome.out.c_str()), 2) << outcome.out;  // the entrances of the gateway
  outcome = running.finish();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count(outcome.out, "good"), 4) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "");
  expect_clean();
}

// A wrong key, what was said before, half of a handshake, byte by byte: at the port that gateways
// dial, and at the one of nodes and engines.
TEST_F(GatewayStartTest, StrangersAtBothPortsOfAGatewayAreRefusedAndCounted) {
  if (!make_clusters("2x2")) return;
  const char* wanted = std::getenv("TERRANE_GATEWAY_STRANGERS");
  const std::string strangers = wanted != nullptr ? wanted : "300";
  write_file("/tmp/two.toml",
             "[[clusters]]\nname = 'a'\nhosts = ['h0', 'h1']\n"
             "[[clusters]]\nname = 'b'\nhosts = ['h2', 'h3']\n"
             "[[gateways]]\ncluster = 'a'\nhost = 'h0'\nport = 7100\n"
             "[[gateways]]\ncluster = 'b'\nhost = 'h2'\n");
  Launched running =
      start("--heartbeat 20 --topology /tmp/two.toml --key /tmp/key -H h0,h1,h2,h3", FAULT_PROGRAM);
  ASSERT_TRUE(running.wait_for("up\n"));
  std::string key = shell(0, "cat /tmp/key").out;
  key = key.substr(0, key.find('\n'));
  pid_t gateway = gateway_on(0);
  std::uint64_t before = most_memory(gateway);
  int ports = 0;
  for (int port : listening_ports(gateway)) {
    const std::string language = port == 7100 ? "--tls link" : "--derive gateways";
    Outcome outcome =
        shell(2, fmt::format("{} --patience 200 --to 10.77.0.1 --port {} {} --secret {} --count {}",
                             STRANGERS_PROGRAM, port, language, key, strangers));
    EXPECT_EQ(outcome.exit_code, 0) << port << ": " << outcome.out << outcome.err;
    if (wanted != nullptr) fmt::print("port {}:\n{}", port, outcome.out);
    ++ports;
  }
  EXPECT_EQ(ports, 2);
  std::uint64_t after = most_memory(gateway);
  EXPECT_LE(after, before + kStrangersMemory) << "bytes at most before: " << before;
  if (wanted != nullptr) fmt::print("memory at most: {} before, {} after\n", before, after);
  EXPECT_EQ(running.err(), "") << "the job goes on";
  for (const Process& process : hosts().processes(0))
    if (process.words.size() > 1 && process.words[1] == "run") ::kill(process.pid, SIGINT);
  EXPECT_EQ(running.finish().exit_code, 128 + SIGINT);
  expect_clean();
}

}  // namespace
}  // namespace terrane::test_hosts
