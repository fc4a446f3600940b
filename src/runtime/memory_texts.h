#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "runtime/memory_share.h"
#include "runtime/node.h"
#include "runtime/outcome.h"
#include "runtime/page_space.h"

// Sentences about the memory of a job's nodes.
namespace terrane::runtime {

// "12 MiB", or in KiB.
std::string size_text(std::uint64_t bytes);
// "node 2 (host)".
std::string name_of(NodeId node, const bootstrap::Bootstrap& bootstrap);
// Refuses a region that could never be filled.
Outcome fits_memory(std::uint64_t bytes, const Allocation& options,
                    const std::vector<MemoryShare>& memory, const bootstrap::Bootstrap& bootstrap);
// What the other nodes keep and may keep: known of those whose memory this node reaches.
std::string others_text(NodeId self, PageSpace& space, const std::vector<MemoryShare>& memory,
                        const bootstrap::Bootstrap& bootstrap);

}  // namespace terrane::runtime
