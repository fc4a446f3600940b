#pragma once

#include <cstdint>
#include <span>

#include "platform/wait.h"

namespace terrane::runtime {

// How crowded the processors are that a node may use.
struct ProcessorShare {
  std::uint32_t nodes = 1;       // of this host that may run on some of them, ourselves included
  std::uint32_t processors = 1;  // that those nodes together may use
};

// From what each node of this host may use, ours among them: nodes that a launcher has bound to
// processors of their own share with nobody.
ProcessorShare processor_share(const platform::ProcessorSet& ours,
                               std::span<const platform::ProcessorSet> on_host);

}  // namespace terrane::runtime
