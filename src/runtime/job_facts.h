#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/options.h"

namespace terrane::runtime {

// What must be the same on all nodes; travels in front of every node's card. The first two members
// stand where they are in every version: they tell whether the rest can be understood.
struct JobFacts {
  char byte_order = 0;         // 'l' or 'b'
  char version[15] = {};       // of Terrane
  char architecture[16] = {};  // as uname -m says
  char interface[8] = {};      // that the program uses: "pages", "shmem"
  std::uint64_t unit_bytes = 0;
  std::uint64_t space_bytes = 0;
  std::uint64_t page_bytes = 0;
};
static_assert(sizeof(JobFacts) == 64);

JobFacts job_facts(const Options& options, std::string_view interface);

// A node as messages name it.
struct NodePlace {
  std::uint32_t node;
  std::string host;
};

// An error in one sentence, which names both nodes with their hosts, what differs, and what mends
// it. Reads nothing beyond `theirs`, whatever it holds.
base::Result<> compare_facts(const JobFacts& mine, const NodePlace& here,
                             std::span<const std::byte> theirs, const NodePlace& there);

}  // namespace terrane::runtime
