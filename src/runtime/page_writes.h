#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "protocol/steps/effects.h"

namespace terrane::runtime {

// Which pages this node has written in which phases of the program, as its releases found them, and
// how often their changes went to another node. For the report of a program with phases. Memory is
// allocated at the first use of a part. Any thread may call.
class PageWrites {
 public:
  static constexpr std::uint32_t kPhases = 64, kNoPhase = ~0u;
  struct Page {
    std::atomic<std::uint64_t> phases;   // one bit for each phase
    std::atomic<std::uint32_t> flushes;  // in any phase
  };

  explicit PageWrites(std::uint64_t blocks);
  ~PageWrites();
  PageWrites(const PageWrites&) = delete;

  // Sets the phase of later writes. Before the first call nothing is recorded.
  void set_phase(std::uint32_t phase) { phase_.store(phase, std::memory_order_relaxed); }
  // A release has found that the node has written these blocks.
  void note_written(protocol::BlockRange blocks);
  void note_flushed(std::uint64_t block);
  // Calls `call` for each block that was written in a phase.
  void for_each(const std::function<void(std::uint64_t, const Page&)>& call) const;

 private:
  static constexpr std::uint64_t kGroup = 4096;

  Page& use(std::uint64_t block);

  std::uint64_t count_;
  Page* pages_ = nullptr;
  std::vector<std::atomic<bool>> used_;  // by kGroup pages
  std::atomic<std::uint32_t> phase_{kNoPhase};
};

}  // namespace terrane::runtime
