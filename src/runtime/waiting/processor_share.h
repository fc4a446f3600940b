#pragma once

#include <cstdint>
#include <span>

#include "platform/wait.h"

namespace terrane::runtime::waiting {

// How crowded the processors are that a node may use.
struct ProcessorShare {
  std::uint32_t nodes = 1;       // of this machine that may run on some of them, this one included
  std::uint32_t processors = 1;  // that those nodes together may use
};

// From what each node of this machine may use, ours among them: nodes that a launcher has bound to
// processors of their own share with nobody.
ProcessorShare processor_share(const platform::ProcessorSet& ours,
                               std::span<const platform::ProcessorSet> on_machine);

// What names the running kernel, by its boot_id: hosts that are namespaces or containers of one
// machine have it in common. 0: unknown.
std::uint64_t machine_identity();

}  // namespace terrane::runtime::waiting
