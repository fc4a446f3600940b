#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/program_names.h"

// Which blocks of the heap node 0 has allocated, and where in the program: for a report.
namespace terrane::frontend::threads {

// Before the first block, on a node that knows its number.
void begin_noting_blocks(std::uint32_t self);
// Whether they are noted: on node 0, with --check=races or sharing, and large ones with --report.
// By any thread.
bool notes_blocks();
// A call from `caller` has got the block. A block keeps its name when it is freed, until another
// one takes its place.
void note_block(const void* block, std::size_t bytes, const void* caller);

// The noted block that holds an address; bytes 0: none does.
struct NotedBlock {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::uintptr_t caller = 0;
};
NotedBlock noted_block_at(std::uintptr_t address);

}  // namespace terrane::frontend::threads
