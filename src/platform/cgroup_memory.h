#pragma once

#include <cstdint>
#include <string>

namespace terrane::platform {

// How many bytes the control groups of this process would still let it use, what they could reclaim
// from the page cache included; ~0 where there is no limit, or none can be read.
std::uint64_t cgroup_memory_left();

// The same for the groups from `folder` up to `top`, whose files are named as in version 1 or 2 of
// control groups.
std::uint64_t cgroup_memory_left(const std::string& top, std::string folder);

}  // namespace terrane::platform
