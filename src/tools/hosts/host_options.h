#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

namespace terrane::test_hosts {

constexpr std::uint32_t kMaxHosts = 64;
constexpr std::uint32_t kMaxLinks = 4;

// What the hosts of a test are to be.
struct HostOptions {
  std::uint32_t hosts = 2;
  // Networks that every host has an interface in: eth0 with 10.77.0.N, eth1 with 10.77.1.N, ...
  std::uint32_t links = 1;
  // "2x3": 2 clusters of 3 hosts, each with bridges of its own; between them the switch routes.
  // Empty: one network. parse_clusters() sets the other two, and hosts.
  std::string clusters;
  std::uint32_t cluster_hosts = 0;  // of each cluster; 0: there are no clusters
  std::string link_rate;            // between clusters, into each of them; empty: no bound
  // Of each cluster only so many hosts, the first ones, reach other clusters; 0: all do.
  std::uint32_t isolate = 0;
  std::string rate;  // of each interface, in each direction, as tc writes it; empty: no bound
  std::string memory_size;  // of each host, a control group's limit; empty: that of the machine
  bool swap = false;        // beyond it, swap of the machine is used
  std::string shm_size = "64m";   // of /dev/shm
  std::string tmp_size = "256m";  // of /tmp
  // Folders that the hosts see although they lie below /tmp or /dev/shm. Everything that lies
  // elsewhere is seen in any case.
  std::vector<std::string> shared;
};

// kNoCarrier: the interface sees that its cable is out. kSilent: nothing arrives and nobody is
// informed.
enum class LinkState : char { kUp = 'u', kNoCarrier = 'n', kSilent = 's' };

inline std::string host_name(std::uint32_t host) { return fmt::format("h{}", host); }

inline std::uint32_t cluster_of(const HostOptions& options, std::uint32_t host) {
  return options.cluster_hosts == 0 ? 0 : host / options.cluster_hosts;
}

// The address of a number in the network of a cluster's link; the router has kRouter.
constexpr std::uint32_t kRouter = 254;
inline std::string address_in(std::uint32_t cluster, std::uint32_t link, std::uint32_t number) {
  return fmt::format("10.77.{}.{}", cluster * kMaxLinks + link, number);
}

// Whether the router carries what the host sends to other clusters, and what they send to it.
inline bool crosses(const HostOptions& options, std::uint32_t host) {
  return options.isolate == 0 || options.cluster_hosts == 0 ||
         host % options.cluster_hosts < options.isolate;
}

// The address of a host on a link.
inline std::string host_address(const HostOptions& options, std::uint32_t host,
                                std::uint32_t link = 0) {
  return address_in(cluster_of(options, host), link, host + 1);
}

}  // namespace terrane::test_hosts
