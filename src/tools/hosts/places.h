#pragma once

#include "base/result.h"
#include "tools/hosts/host_options.h"

namespace terrane::test_hosts {

// Makes this process, which is the first one of a process namespace, live in a host of its own: a
// name, network, System V and POSIX objects, /proc and /sys, /dev/shm, /tmp and /etc/hosts that no
// other host sees. The network has no interface yet.
base::Result<> make_places(const HostOptions& options, std::uint32_t host);

}  // namespace terrane::test_hosts
