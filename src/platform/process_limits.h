#pragma once

#include <cstdint>
#include <string>

namespace terrane::platform {

// How much more this process may map; ~0 where there is no limit.
struct AddressesLeft {
  std::uint64_t all = ~std::uint64_t{0};           // 'ulimit -v'
  std::uint64_t own_writable = ~std::uint64_t{0};  // 'ulimit -d': private and writable
};
AddressesLeft addresses_left();

// Which limit is in the way when a thread cannot be started with this errno, and what mends that:
// the limit of a control group, of the user or of the process. A clause.
std::string why_no_thread(int error);

// The tightest full limit of processes and threads (pids.max) of the control group `folder` below
// `top` and of those above it, as a clause; empty: none is full.
std::string full_group_of_threads(const std::string& top, std::string folder);

}  // namespace terrane::platform
