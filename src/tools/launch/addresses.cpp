#include "tools/launch/addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "bootstrap/this_host.h"

namespace terrane::tools {
namespace {

// What comes first: IPv4, IPv6, then either that is this host's own.
int order(const ifaddrs& interface) {
  int loopback = interface.ifa_flags & IFF_LOOPBACK ? 2 : 0;
  return loopback + (interface.ifa_addr->sa_family == AF_INET6 ? 1 : 0);
}

bool is_usable(const ifaddrs& interface) {
  if (!interface.ifa_addr || !(interface.ifa_flags & IFF_UP)) return false;
  if (interface.ifa_addr->sa_family == AF_INET) return true;
  if (interface.ifa_addr->sa_family != AF_INET6) return false;
  const auto* address = reinterpret_cast<const sockaddr_in6*>(interface.ifa_addr);
  return !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr);
}

}  // namespace

std::vector<std::string> own_addresses() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {"127.0.0.1"};
  std::vector<const ifaddrs*> usable;
  for (const ifaddrs* one = all; one; one = one->ifa_next) {
    if (is_usable(*one)) usable.push_back(one);
  }
  std::stable_sort(usable.begin(), usable.end(),
                   [](const ifaddrs* a, const ifaddrs* b) { return order(*a) < order(*b); });
  std::vector<std::string> texts;
  for (const ifaddrs* one : usable) {
    sockaddr_storage address{};
    bool ipv4 = one->ifa_addr->sa_family == AF_INET;
    std::memcpy(&address, one->ifa_addr, ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    texts.push_back(address_text(address));
  }
  ::freeifaddrs(all);
  return texts;
}

bool is_this_host(const std::string& name) {
  std::string own = bootstrap::this_hosts_name();
  std::string_view short_name = std::string_view(own).substr(0, own.find('.'));
  if (name == own || name == short_name || name == "localhost") return true;
  if (name.starts_with(own + ".")) return true;
  if (!parse_address(name, 0)) return false;
  std::vector<std::string> addresses = own_addresses();
  return std::find(addresses.begin(), addresses.end(), name) != addresses.end();
}

}  // namespace terrane::tools
