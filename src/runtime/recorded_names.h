#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/page_space.h"
#include "runtime/program_names.h"
#include "runtime/recorded_op.h"

namespace terrane::runtime {

// What the operations of a node use and node 0, which knows the program's names, is to name: how
// many locks and counts, their tokens, and blocks.
std::vector<std::uint64_t> to_be_named(std::span<const RecordedOp> ops, Engine& engine);

// The names of that, a line each: "m FIRST-BLOCK BLOCKS NAME" of memory, and "l TOKEN NAME". By the
// thread that leaves the job.
std::string names_of(std::span<const std::uint64_t> asked, const PageSpace& space, Engine& engine,
                     const ProgramNames& names);

}  // namespace terrane::runtime
