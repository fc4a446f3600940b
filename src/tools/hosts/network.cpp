#include "tools/hosts/network.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/unique_fd.h"

namespace terrane::test_hosts {
namespace {

using base::errno_error;
using base::error;
using base::Result;
using base::UniqueFd;

constexpr int kCarrierTries = 200;
constexpr auto kCarrierPause = std::chrono::milliseconds(10);
constexpr std::size_t kPipeBytes = 60'000;  // what a pipe holds without a reader

// Runs `tool -batch -` (ip, tc or bridge) on the lines; its own words are the error.
Result<> run_batch(const char* tool, const std::string& lines) {
  int in[2], out[2];
  if (lines.size() > kPipeBytes) return error("too many hosts for one batch of {}", tool);
  if (::pipe2(in, O_CLOEXEC) < 0 || ::pipe2(out, O_CLOEXEC) < 0) {
    return errno_error("cannot make a pipe");
  }
  UniqueFd in_read(in[0]), in_write(in[1]), out_read(out[0]), out_write(out[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in_read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out_write.get(), STDERR_FILENO);
  std::string name = tool, batch = "-batch", dash = "-";
  char* arguments[] = {name.data(), batch.data(), dash.data(), nullptr};
  pid_t pid = 0;
  int failed = ::posix_spawnp(&pid, tool, &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return error("cannot run {} (package iproute2): {}", tool, std::strerror(failed));
  }
  out_write.reset();
  [[maybe_unused]] ssize_t written = ::write(in_write.get(), lines.data(), lines.size());
  in_write.reset();
  std::string said;
  char part[1024];
  for (ssize_t got; (got = ::read(out_read.get(), part, sizeof part)) > 0;) {
    said.append(part, static_cast<std::size_t>(got));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  while (said.ends_with('\n')) said.pop_back();
  if (status != 0) return error("{} could not set up the network: {}", tool, said);
  return {};
}

std::string port_name(std::uint32_t host, std::uint32_t link) {
  return fmt::format("p{}-{}", host, link);
}

// A bucket that holds 4 ms of traffic at 10 Gbit/s: a small one would bound fast links by itself.
std::string bound(const std::string& device, const std::string& rate) {
  return fmt::format("qdisc add dev {} root tbf rate {} burst 512kb latency 50ms\n", device, rate);
}

Result<> bound_rates(const HostOptions& options, const std::vector<std::string>& devices) {
  if (options.rate.empty()) return {};
  std::string lines;
  for (const std::string& device : devices) lines += bound(device, options.rate);
  return run_batch("tc", lines);
}

std::string bridge_name(std::uint32_t cluster, std::uint32_t link) {
  return cluster == 0 ? fmt::format("br{}", link) : fmt::format("br{}-{}", link, cluster);
}

// The router drops what an isolated host sends to other clusters, and what they send to it. Hosts
// of one cluster do not reach each other by the router.
std::string rules_that_isolate(const HostOptions& options) {
  std::string lines;
  for (std::uint32_t host = 0; host < options.hosts; ++host) {
    if (crosses(options, host)) continue;
    for (std::uint32_t link = 0; link < options.links; ++link) {
      std::string address = host_address(options, host, link);
      lines += fmt::format("rule add from {0} blackhole\nroute add blackhole {0}/32\n", address);
    }
  }
  return lines;
}

// The switch is the router of each cluster. What one sends into another leaves by the address of
// that one's bridge, so that a bound there is one of the link and of nothing inside.
Result<> make_routers(const HostOptions& options) {
  if (options.cluster_hosts == 0) return {};
  std::ofstream("/proc/sys/net/ipv4/ip_forward") << '1';
  std::string lines, bounds;
  for (std::uint32_t cluster = 0; cluster * options.cluster_hosts < options.hosts; ++cluster) {
    for (std::uint32_t link = 0; link < options.links; ++link) {
      std::string bridge = bridge_name(cluster, link);
      lines +=
          fmt::format("address add {}/24 dev {}\n", address_in(cluster, link, kRouter), bridge);
      if (!options.link_rate.empty()) bounds += bound(bridge, options.link_rate);
    }
  }
  lines += rules_that_isolate(options);
  if (auto made = run_batch("ip", lines); !made || bounds.empty()) return made;
  return run_batch("tc", bounds);
}

std::string crossing_rules(const HostOptions& options, std::uint32_t from, std::uint32_t to,
                           const char* verb, const char* action) {
  std::string lines;
  for (std::uint32_t link = 0; link < options.links; ++link)
    lines += fmt::format("rule {} iif {} to {}/24 {}\n", verb, bridge_name(from, link),
                         address_in(to, link, 0), action);
  return lines;
}

}  // namespace

Result<> make_switch(const HostOptions& options, const std::vector<pid_t>& keepers) {
  std::string lines = "link set dev lo up\n";
  std::vector<std::string> ports;
  for (std::uint32_t link = 0; link < options.links; ++link) {
    for (std::uint32_t host = 0; host < keepers.size(); ++host) {
      std::uint32_t cluster = cluster_of(options, host);
      std::string bridge = bridge_name(cluster, link);
      bool first = host == cluster * options.cluster_hosts;
      if (first)
        lines += fmt::format(
            "link add dev {0} type bridge stp_state 0 forward_delay 0\n"
            "link set dev {0} up\n",
            bridge);
      ports.push_back(port_name(host, link));
      lines += fmt::format(
          "link add dev {0} type veth peer name eth{1} netns "
          "{2}\n"
          "link set dev {0} master {3} up\n",
          ports.back(), link, keepers[host], bridge);
    }
  }
  if (auto made = run_batch("ip", lines); !made) return made;
  if (auto made = make_routers(options); !made) return made;
  return bound_rates(options, ports);
}

Result<> make_interfaces(const HostOptions& options, std::uint32_t host) {
  std::string lines = "link set dev lo up\n";
  std::vector<std::string> devices;
  for (std::uint32_t link = 0; link < options.links; ++link) {
    devices.push_back(fmt::format("eth{}", link));
    lines += fmt::format("address add {}/24 dev {}\nlink set dev {} up\n",
                         host_address(options, host, link), devices.back(), devices.back());
  }
  if (options.cluster_hosts > 0)
    lines += fmt::format("route add default via {}\n",
                         address_in(cluster_of(options, host), 0, kRouter));
  if (auto made = run_batch("ip", lines); !made) return made;
  return bound_rates(options, devices);
}

Result<> set_crossing(const HostOptions& options, std::uint32_t from, std::uint32_t to,
                      LinkState state) {
  // A rule that is not there is none to be deleted.
  for (const char* action : {"blackhole", "prohibit"}) {
    for (auto [one, other] : {std::pair(from, to), std::pair(to, from)})
      (void)run_batch("ip", crossing_rules(options, one, other, "del", action));
  }
  if (state == LinkState::kUp) return {};
  const char* action = state == LinkState::kSilent ? "blackhole" : "prohibit";
  return run_batch("ip", crossing_rules(options, from, to, "add", action) +
                             crossing_rules(options, to, from, "add", action));
}

Result<> set_port(std::uint32_t host, std::uint32_t link, LinkState state) {
  constexpr int kDisabled = 0, kForwarding = 3;  // IEEE 802.1D's states of a port
  std::string port = port_name(host, link);
  bool up = state != LinkState::kNoCarrier;
  auto carrier = run_batch("ip", fmt::format("link set dev {} {}\n", port, up ? "up" : "down"));
  if (!carrier || !up) return carrier;
  int wanted = state == LinkState::kSilent ? kDisabled : kForwarding;
  std::string line = fmt::format("link set dev {} state {}\n", port, wanted);
  // A bridge takes a moment to see the carrier, without which no port forwards.
  auto changed = run_batch("bridge", line);
  for (int tries = 0; !changed && tries < kCarrierTries; ++tries) {
    std::this_thread::sleep_for(kCarrierPause);
    changed = run_batch("bridge", line);
  }
  return changed;
}

}  // namespace terrane::test_hosts
