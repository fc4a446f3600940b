#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/panes.h"

namespace terrane::runtime {

class PageSpace;

// What a debugger reads of the node's shared memory, without running anything in the process:
// share/terrane/gdb.py. All addresses are of this process. A change of the layout raises kVersion,
// there as well.
struct DebuggedMemory {
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t version = 0;  // 0: this process is in no job
  std::uint32_t self = 0, nodes = 0;
  std::uint32_t entry_bytes = 0;          // of a page's entry, which has:
  std::uint32_t state_at = 0;             // the state, in the lowest two bits of a word
  std::uint32_t home_at = 0;              // a word with the home + 1; 0: not known
  std::uint32_t home_mask = 0;            // ... in these bits
  std::uint32_t synchronises = 0;         // ... and the bit of a synchronisation page
  std::uint64_t unit = 0;                 // bytes of a page
  std::uint64_t bytes = 0;                // of the shared space
  const std::byte* app = nullptr;         // where the program sees it, panes apart
  const std::byte* runtime = nullptr;     // where this node has its pages
  const void* entries = nullptr;          // of all pages
  const void* peers = nullptr;            // the first node's word: where its pages are here, or 0
  std::uint64_t peer_bytes = 0;           // from one node's to the next one's
  const platform::Pane* panes = nullptr;  // offset and bytes of the space, address
  std::uint64_t pane_count = 0;
};

// Lets terrane_debug_memory describe the space, or none (nullptr). By one thread at a time; again
// when panes have been added. The space shows itself no more before it ends.
void show_to_debuggers(const PageSpace* space);

}  // namespace terrane::runtime

extern "C" {
// Of the node of this process.
[[gnu::visibility("default")]] extern terrane::runtime::DebuggedMemory terrane_debug_memory;
// Reads a byte of each page in the range, so that the node fetches them. Called by a debugger, in a
// thread that has stopped in the program's code.
[[gnu::visibility("default")]] void terrane_debug_fetch(const void* address, std::size_t bytes);
}
