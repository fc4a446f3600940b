#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace terrane::transport::ucx {

// A way out of this host by which UCX can send.
struct Interface {
  std::string name;  // as UCX calls it: "eth0"; an RDMA port "mlx5_0:1"
  bool up = false;
  bool loopback = false;
  bool rdma = false;
  bool inner = false;          // joins containers and virtual machines of this host: a bridge
  bool default_route = false;  // what leads to everywhere
  std::uint64_t megabits = 0;  // a second, as its driver says; 0: it does not say
};

// All that this host has, by name.
std::vector<Interface> list_interfaces();

struct InterfaceChoice {
  std::string devices;          // for UCX_NET_DEVICES
  std::string reason;           // why these; part of a sentence
  bool sockets_alone = false;   // all of them are known, and none is RDMA
  std::uint64_t bandwidth = 0;  // of the fastest, bytes a second
};

// What to use. `wanted` is "auto" or names separated by commas; where the user asks for nothing,
// `ucx_devices` (UCX_NET_DEVICES, "" when not set) counts. A job whose nodes are all on this host
// takes the loopback. A name that is not there is an error that lists those that are.
base::Result<InterfaceChoice> choose_interfaces(const std::vector<Interface>& present,
                                                std::string_view wanted,
                                                std::string_view ucx_devices, bool one_host);

// The same for this host and its environment.
base::Result<InterfaceChoice> choose_interfaces_here(std::string_view wanted, bool one_host);

}  // namespace terrane::transport::ucx
