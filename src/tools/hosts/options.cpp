#include "tools/hosts/options.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace terrane::test_hosts {

void add_options(CLI::App& app, HostOptions& options) {
  app.add_option("-n,--hosts", options.hosts, "The number of hosts: h0, h1, ...; default 2")
      ->check(CLI::Range(1u, kMaxHosts))
      ->type_name("N");
  app.add_option("--clusters", options.clusters,
                 "Clusters of so many hosts, joined by a router alone: 2x3; in place of -n")
      ->excludes("--hosts")
      ->type_name("CxN");
  app.add_option("--link-rate", options.link_rate,
                 "Limit of what the router sends into each cluster: 1gbit (tc-tbf)")
      ->needs("--clusters")
      ->type_name("RATE");
  app.add_option("--isolate", options.isolate,
                 "Only the first N hosts of each cluster reach other clusters, as gateways do")
      ->needs("--clusters")
      ->check(CLI::Range(1u, kMaxHosts))
      ->type_name("N");
  app.add_option("--links", options.links, "Interfaces of each host: eth0, eth1, ...; default 1")
      ->check(CLI::Range(1u, kMaxLinks))
      ->type_name("N");
  app.add_option("--rate", options.rate, "Limit of each interface, each way: 1gbit (tc-tbf)")
      ->type_name("RATE");
  auto* memory = app.add_option("--memory", options.memory_size,
                                "Limit of each host's memory, by a control group: 256M; how much "
                                "was used is said at the end");
  memory->type_name("SIZE");
  app.add_flag("--swap", options.swap, "Beyond --memory, hosts use the machine's swap")
      ->needs(memory);
  app.add_option("--shm", options.shm_size, "Size of each host's /dev/shm; default 64m")
      ->type_name("SIZE");
  app.add_option("--tmp", options.tmp_size, "Size of each host's /tmp; default 256m")
      ->type_name("SIZE");
  app.add_option("--share", options.shared, "A folder below /tmp that the hosts shall see")
      ->allow_extra_args(false)
      ->type_name("FOLDER");
  app.footer(
      "Without a command, a shell runs in h0. There, `enter_host HOST COMMAND...` runs a command "
      "on\n"
      "another host as ssh would, and `terrane run -H h0,h1 PROGRAM` uses it.\n"
      "Exit code: that of the command; 77: hosts cannot be made here. More: man terrane-hosts.");
}

base::Result<> parse_clusters(HostOptions& options) {
  if (options.clusters.empty()) return {};
  std::uint32_t clusters = 0, hosts = 0;
  const char* end = options.clusters.data() + options.clusters.size();
  auto [x, bad] = std::from_chars(options.clusters.data(), end, clusters);
  bool good = bad == std::errc() && x != end && *x == 'x';
  if (good) {
    auto [rest, wrong] = std::from_chars(x + 1, end, hosts);
    good = wrong == std::errc() && rest == end;
  }
  if (!good || clusters == 0 || hosts == 0 || clusters > kMaxHosts || hosts > kMaxHosts / clusters)
    return base::error(
        "--clusters {}: write 2x3 for 2 clusters of 3 hosts; at most {} hosts in all",
        options.clusters, kMaxHosts);
  options.cluster_hosts = hosts;
  options.hosts = clusters * hosts;
  return {};
}

}  // namespace terrane::test_hosts
