#pragma once

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

}  // namespace terrane::sim
