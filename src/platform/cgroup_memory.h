#pragma once

#include <cstdint>
#include <string>

namespace terrane::platform {

// How many bytes the control groups of a process would still let it use, what they could reclaim
// from the page cache included, and which of them lets it use least: a number that is the group's
// own on its host. ~0 and 0 where there is no limit, or none can be read.
struct CgroupMemory {
  std::uint64_t left_bytes = ~std::uint64_t{0};
  std::uint64_t id = 0;
};
CgroupMemory tightest_cgroup();
std::uint64_t cgroup_memory_left();

// How far the control groups of this process are from their limits (also memory.high of version 2,
// and memory.soft_limit_in_bytes of version 1),
// less a sixteenth of the limit; negative: so much has to go. Unlike above, all of the page
// cache counts as reclaimable: a program that reads large files is not short of memory. 2^60
// where there is no limit.
std::int64_t cgroup_headroom();

// The same for the groups from `folder` up to `top`, whose files are named as in version 1 or 2 of
// control groups.
CgroupMemory tightest_cgroup(const std::string& top, std::string folder);
std::int64_t cgroup_headroom(const std::string& top, std::string folder);

}  // namespace terrane::platform
