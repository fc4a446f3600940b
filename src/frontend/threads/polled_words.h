#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "platform/loop_probe.h"

// Words that threads of a node read again and again while they may be waiting. Each node shows its
// own to all others on a page of a region with sequential consistency, which costs nothing while it
// does not change. A node that has stored something else to such a word makes its page a
// synchronisation page: then the thread sees the store, after what was stored before it. All of
// this is a guess that costs time where it is wrong.
namespace terrane::frontend::threads {

struct PolledWord {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;  // 1 to 8
  std::uint64_t seen = 0;   // what this node's page has there

  bool operator==(const PolledWord&) const = default;
};

// More words than a loop polls: it computes.
inline constexpr std::size_t kMostPolledWords = 16;

// Collective, before there are threads: makes the pages.
void share_polled_words();
// The words of shared memory that these instructions read and do not write, outside of the thread's
// own frames and of synchronisation pages. Empty: none, or too many.
std::vector<PolledWord> words_polled_by(std::span<const platform::LoopStep> steps);
// From now on the other nodes see these as this node's. Like the next one, by one thread, which the
// runtime knows.
void show_polled_words(const std::vector<PolledWord>& words);
// Serves the words of other nodes that have changed here.
void serve_polled_words();

}  // namespace terrane::frontend::threads
