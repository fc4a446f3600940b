#pragma once

#include <cstdint>

namespace terrane::platform {

// How many mappings a process may have (vm.max_map_count); the kernel's default where it cannot be
// read.
std::uint64_t max_map_count();

// How many mappings this process has now (/proc/self/maps); 0 where that cannot be read.
std::uint64_t current_map_count();

}  // namespace terrane::platform
