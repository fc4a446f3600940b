#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "base/result.h"
#include "runtime/options.h"

namespace terrane::runtime {

// What must be the same on all nodes; travels in front of every node's card.
struct JobFacts {
  char version[16] = {};
  std::uint64_t unit_bytes = 0;
  std::uint64_t space_bytes = 0;
  std::uint64_t page_bytes = 0;
};
static_assert(sizeof(JobFacts) == 40);

JobFacts job_facts(const Options& options);
// An error that names the node and what differs.
base::Result<> compare_facts(const JobFacts& mine, std::span<const std::byte> theirs,
                             std::uint32_t node);

}  // namespace terrane::runtime
