#pragma once

#include <filesystem>

#include "on_hosts.h"
#include "tools/hosts/options.h"

namespace terrane::test_hosts {

// Tests on clusters of hosts of which only the first ones reach other clusters.
class OnClusters : public OnHosts {
 protected:
  // Patient, because a busy machine may keep a process from its work for longer than people wait.
  static constexpr char kTwo[] =
      "--heartbeat 20 -H h0,h1,h2,h3 --clusters a:h0,h1/b:h2,h3 --gateways a:h0/b:h2";
  static constexpr char kTwoGatewaysEach[] =
      "--heartbeat 20 -H h0,h1,h2,h3,h4,h5 --clusters a:h0,h1,h2/b:h3,h4,h5 "
      "--gateways a:h0,h1/b:h3,h4";
  static constexpr char kThreeInALine[] =
      "[[clusters]]\nname = 'a'\nhosts = ['h0', 'h1']\n"
      "[[clusters]]\nname = 'm'\nhosts = ['h2', 'h3']\n"
      "[[clusters]]\nname = 'z'\nhosts = ['h4', 'h5']\n"
      "[[links]]\nbetween = ['a', 'm']\n[[links]]\nbetween = ['m', 'z']\n"
      "[[gateways]]\ncluster = 'a'\nhost = 'h0'\n"
      "[[gateways]]\ncluster = 'm'\nhost = 'h2'\n"
      "[[gateways]]\ncluster = 'z'\nhost = 'h4'\n";

  bool make_clusters(const char* shape, std::uint32_t isolate = 1) {
    HostOptions options{.clusters = shape, .isolate = isolate};
    EXPECT_TRUE(parse_clusters(options).ok());
    return make_hosts(options);
  }
  // A file on the first host.
  void write_file(const std::string& path, const std::string& text) {
    EXPECT_EQ(shell(0, "printf '%s' \"" + text + "\" > " + path + "; chmod 600 " + path).exit_code,
              0);
  }
  // Nothing of a job is left on any host.
  void expect_clean() {
    expect_empty_hosts();
    for (std::uint32_t host = 0; host < hosts().count(); ++host) {
      std::error_code failed;
      auto shared = std::filesystem::directory_iterator(hosts().root(host) + "/dev/shm", failed);
      EXPECT_EQ(shared, std::filesystem::directory_iterator()) << "host " << host;
    }
  }
  void expect_one_sentence(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(count(outcome.err, "\n"), 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_GT(count(outcome.err, part), 0) << part << ": " << outcome.err;
    expect_clean();
  }

  static bool is_gateway(const Process& process) { return process.name == "gateway"; }
  // The gateway's process on a host, not the one that watches it; -1: none.
  pid_t gateway_on(std::uint32_t host) {
    for (const Process& process : hosts().processes(host))
      if (is_gateway(process)) return process.pid;
    return -1;
  }
};

}  // namespace terrane::test_hosts
