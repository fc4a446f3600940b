#pragma once

#include <cstdint>
#include <span>

#include "platform/wait.h"

namespace terrane::waiting {

// How crowded the processors are that a node may use.
struct ProcessorShare {
  std::uint32_t nodes = 1;       // nodes of this machine that may use some of them, with this
  std::uint32_t processors = 1;  // processors that those nodes together may use
};

// Computed from the processors that each node of this machine may use, ours included. A node that a
// launcher has bound to processors of its own shares with no other node.
ProcessorShare processor_share(const platform::ProcessorSet& ours,
                               std::span<const platform::ProcessorSet> on_machine);

// Identifies the running kernel by its boot_id. Hosts that are namespaces or containers of one
// machine have the same. 0: unknown.
std::uint64_t machine_identity();

}  // namespace terrane::waiting
