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
  std::string rate;  // of each interface, in each direction, as tc writes it; empty: no bound
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

// The address of a host on a link.
inline std::string host_address(std::uint32_t host, std::uint32_t link = 0) {
  return fmt::format("10.77.{}.{}", link, host + 1);
}

}  // namespace terrane::test_hosts
