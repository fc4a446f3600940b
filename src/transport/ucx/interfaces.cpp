#include "transport/ucx/interfaces.h"

#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace terrane::transport::ucx {
namespace {

namespace fs = std::filesystem;

// The interface that /proc/net/route sends everything to; "" when there is none.
std::string default_route() {
  std::ifstream routes("/proc/net/route");
  std::string line;
  std::getline(routes, line);  // the heading
  while (std::getline(routes, line)) {
    std::istringstream columns(line);
    std::string name;
    std::string destination;
    if (columns >> name >> destination && destination == "00000000") return name;
  }
  return "";
}

// Of one whose driver does not say: a loopback, or a wireless one.
constexpr std::uint64_t kMegabitsByDefault = 10'000;

// The number that the file begins with; 0: none.
std::uint64_t number_in(const fs::path& file) {
  std::ifstream text(file);
  double number = 0;
  return text >> number && number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

void add_ip_interfaces(std::vector<Interface>& found) {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return;
  std::string leads_out = default_route();
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    std::string name = one->ifa_name;
    name = name.substr(0, name.find(':'));  // further addresses of an interface
    if (std::any_of(found.begin(), found.end(), [&](auto& f) { return f.name == name; })) continue;
    Interface interface { .name = name };
    interface.up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0;
    interface.loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    std::error_code ignored;
    interface.inner = fs::exists("/sys/class/net/" + name + "/bridge", ignored);
    interface.default_route = name == leads_out;
    interface.megabits = number_in("/sys/class/net/" + name + "/speed");
    found.push_back(std::move(interface));
  }
  ::freeifaddrs(first);
}

void add_rdma_ports(std::vector<Interface>& found) {
  std::error_code ignored;
  for (const auto& device : fs::directory_iterator("/sys/class/infiniband", ignored)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", ignored)) {
      std::ifstream state(port.path() / "state");
      std::string text;
      std::getline(state, text);
      Interface interface {
        .name = device.path().filename().string() + ":" + port.path().filename().string()
      };
      interface.rdma = true;
      interface.up = text.find("ACTIVE") != std::string::npos;
      interface.megabits = 1000 * number_in(port.path() / "rate");  // "100 Gb/sec (4X EDR)"
      found.push_back(std::move(interface));
    }
  }
}

std::string names_of(const std::vector<Interface>& interfaces) {
  std::vector<std::string_view> names;
  for (const Interface& one : interfaces) names.push_back(one.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

base::Result<InterfaceChoice> choose_named(const std::vector<Interface>& present,
                                           std::string_view wanted) {
  std::istringstream names{std::string(wanted)};
  std::string devices;
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty()) continue;
    auto is_it = [&](const Interface& one) {
      return one.name == name || (one.rdma && one.name == name + ":1");
    };
    auto at = std::find_if(present.begin(), present.end(), is_it);
    if (at == present.end()) {
      return base::error("there is no network interface \"{}\" with an address here; there are {}",
                         name, names_of(present));
    }
    if (!at->up) return base::error("the network interface {} is down", name);
    devices += (devices.empty() ? "" : ",") + at->name;
  }
  if (devices.empty()) return base::error("no network interface is named in \"{}\"", wanted);
  return InterfaceChoice{devices, "as asked for"};
}

// RDMA ports, and of the IP interfaces the one of the default route, or else all: not those that
// stay inside this host.
InterfaceChoice choose_outward(const std::vector<Interface>& present) {
  std::vector<std::string_view> rdma;
  std::vector<std::string_view> ip;
  const Interface* leads_out = nullptr;
  for (const Interface& one : present) {
    if (!one.up || one.loopback || one.inner) continue;
    (one.rdma ? rdma : ip).push_back(one.name);
    if (one.default_route) leads_out = &one;
  }
  std::string reason = ip.size() == 1 ? "the only one that leads out of this host"
                                      : "all that lead out of this host";
  if (ip.size() > 1 && leads_out != nullptr) {
    ip = {leads_out->name};
    reason = "the default route's";
  }
  if (!rdma.empty()) reason = ip.empty() ? "RDMA" : "RDMA, and " + reason;
  rdma.insert(rdma.end(), ip.begin(), ip.end());
  if (rdma.empty()) return {"lo", "there is no interface that leads out of this host"};
  return {fmt::format("{}", fmt::join(rdma, ",")), reason};
}

}  // namespace

std::vector<Interface> list_interfaces() {
  std::vector<Interface> found;
  add_ip_interfaces(found);
  add_rdma_ports(found);
  return found;
}

namespace {

base::Result<InterfaceChoice> choose(const std::vector<Interface>& present, std::string_view wanted,
                                     std::string_view ucx_devices, bool one_host) {
  if (!wanted.empty() && wanted != "auto") return choose_named(present, wanted);
  if (!ucx_devices.empty()) return InterfaceChoice{std::string(ucx_devices), "UCX_NET_DEVICES"};
  if (one_host) return InterfaceChoice{"lo", "all nodes are on this host"};
  return choose_outward(present);
}

const Interface* find(const std::vector<Interface>& present, std::string_view name) {
  auto at = std::find_if(present.begin(), present.end(),
                         [&](const Interface& one) { return one.name == name; });
  return at == present.end() ? nullptr : &*at;
}

}  // namespace

base::Result<InterfaceChoice> choose_interfaces(const std::vector<Interface>& present,
                                                std::string_view wanted,
                                                std::string_view ucx_devices, bool one_host) {
  auto chosen = choose(present, wanted, ucx_devices, one_host);
  if (!chosen) return chosen;
  std::istringstream names{chosen.value().devices};
  bool sockets = true;
  std::uint64_t megabits = 0;
  for (std::string name; std::getline(names, name, ',');) {
    const Interface* one = find(present, name);
    sockets &= one != nullptr && !one->rdma;
    megabits = std::max(megabits, one != nullptr ? one->megabits : 0);
  }
  chosen.value().sockets_alone = sockets;
  chosen.value().bandwidth = (megabits != 0 ? megabits : kMegabitsByDefault) * 1'000'000 / 8;
  return chosen;
}

base::Result<InterfaceChoice> choose_interfaces_here(std::string_view wanted, bool one_host) {
  const char* asked_of_ucx = std::getenv("UCX_NET_DEVICES");
  return choose_interfaces(list_interfaces(), wanted, asked_of_ucx == nullptr ? "" : asked_of_ucx,
                           one_host);
}

}  // namespace terrane::transport::ucx
