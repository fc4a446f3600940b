#pragma once

#include <atomic>
#include <cstdint>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {

// Threads of this node wait for changes that others announce. In private memory.
class Signal {
 public:
  // Returns when is_over() says so, which reads what was changed before an announcement. `polls`:
  // the thread keeps its processor for some time.
  template <typename IsOver>
  void await(bool polls, const IsOver& is_over) {
    for (;;) {
      std::uint32_t seen = announced_.load(std::memory_order_acquire);
      if (is_over()) return;
      waiting_.fetch_add(1);
      if (!is_over()) terrane_program_wait(&announced_, seen, polls);
      waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  // A thread that waits counts itself before it looks for the last time, and this one changes
  // before it looks for such threads: one of the two sees the other.
  void announce() {
    announced_.fetch_add(1);
    if (waiting_.load() != 0) terrane_program_wake(&announced_);
  }

 private:
  std::atomic<std::uint32_t> announced_{0}, waiting_{0};
};

}  // namespace terrane::frontend::omp
