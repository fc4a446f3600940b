#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/options.h"

namespace terrane::runtime {

// What must be the same on all nodes. Sent at the start of every node's card. The first two members
// keep their places in every version: they show whether the rest can be understood.
struct JobFacts {
  char byte_order = 0;         // 'l' or 'b'
  char version[15] = {};       // of Terrane
  char architecture[16] = {};  // as uname -m says
  char interface[8] = {};      // the interface that the program uses: "pages", "shmem"
  std::uint64_t unit_bytes = 0;
  std::uint64_t space_bytes = 0;
  std::uint64_t page_bytes = 0;
};
static_assert(sizeof(JobFacts) == 64);

JobFacts job_facts(const Options& options, std::string_view interface);

// A node, as messages name it.
struct NodePlace {
  std::uint32_t node;
  std::string host;
};

// Compares the facts of two nodes. The error is one sentence: it names both nodes with their hosts,
// what differs, and the remedy. `theirs` may have any length and content; nothing beyond it is
// read.
base::Result<> compare_facts(const JobFacts& mine, const NodePlace& here,
                             std::span<const std::byte> theirs, const NodePlace& there);

}  // namespace terrane::runtime
