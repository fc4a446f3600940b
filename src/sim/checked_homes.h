#pragma once

#include <span>

#include "sim/checker.h"
#include "sim/node.h"

namespace terrane::sim {

// Steps at a home that looks for races. Each is performed in one piece: a real home holds a lock
// meanwhile. What it finds goes to the checker.
void compare_home(Node& home, NodeId self, protocol::CompareHome& step, Checker& checker);
void apply_checked(Node& home, const protocol::ApplyDiff& step, std::uint32_t block_bytes,
                   Checker& checker);
// An atomic operation was performed on the home's bytes, whose word was `before`.
void follow_atomic(Node& home, const protocol::PerformAtomic& step);

// The node's thread accesses bytes of the block, if that is looked at.
void note_access(Node& node, std::uint64_t block, std::uint32_t at, std::uint32_t bytes,
                 bool is_write, std::uint32_t block_bytes);
void close_accesses(Node& node, NodeId self, protocol::CloseAccesses& step,
                    std::uint32_t block_bytes);
// At the end: what all nodes have accessed is compared.
void compare_accesses(std::span<Node> nodes, std::uint32_t block_bytes, Checker& checker);

}  // namespace terrane::sim
