#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace terrane::transport {

// Remembers which interrupts each thread has seen, so that one interrupt() ends the present or the
// next sleep of every thread. A thread may hear of an interrupt twice, never not at all.
class InterruptLedger {
 public:
  // Async-signal-safe. The caller wakes the sleepers afterwards.
  void interrupt() noexcept { epoch_.fetch_add(1); }
  // True when there was an interrupt since the calling thread last asked.
  bool take() noexcept;

 private:
  struct Slot {
    std::atomic<std::uint32_t> thread{0};
    std::atomic<std::uint32_t> seen{0};
  };
  static constexpr std::uint32_t kSlots = 4096;  // as many as a node has threads at most

  Slot* slot_of(std::uint32_t thread) noexcept;
  Slot* slot_of_a_dead_thread(std::uint32_t thread) noexcept;

  std::atomic<std::uint32_t> epoch_{0};
  std::array<Slot, kSlots> slots_;
};

}  // namespace terrane::transport
