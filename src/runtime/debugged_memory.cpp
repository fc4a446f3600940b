#include "runtime/debugged_memory.h"

#include "runtime/page_space.h"

extern "C" {
terrane::runtime::DebuggedMemory terrane_debug_memory;

void terrane_debug_fetch(const void* address, std::size_t bytes) {
  const auto* first = static_cast<const volatile char*>(address);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<void>(first[at]);
  if (bytes > 0) static_cast<void>(first[bytes - 1]);
}
}

namespace terrane::runtime {

void show_to_debuggers(const PageSpace* space) {
  DebuggedMemory& shown = terrane_debug_memory;
  shown = {};
  if (space == nullptr) return;
  const auto* entries = CheckedPages::entries(*space);
  auto layout = entries->layout();
  shown.self = space->self().value;
  shown.nodes = space->nodes();
  shown.entry_bytes = sizeof *entries;
  shown.state_at = layout.state_at;
  shown.home_at = layout.home_at;
  shown.home_mask = layout.home_mask;
  shown.synchronises = layout.synchronises;
  shown.unit = space->unit();
  shown.bytes = space->mapping_.bytes();
  shown.app = space->mapping_.app();
  shown.runtime = space->mapping_.runtime();
  shown.entries = entries;
  shown.peers = &space->peers_.front().pages;
  shown.peer_bytes = sizeof space->peers_.front();
  shown.panes = space->mapping_.panes().all().data();
  shown.pane_count = space->mapping_.panes().size();
  shown.version = DebuggedMemory::kVersion;
}

}  // namespace terrane::runtime
