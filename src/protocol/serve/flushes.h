#pragma once

#include <atomic>
#include <cstdint>

#include "protocol/steps/effects.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A thread's differences that are on their way to homes: messages without an answer yet, and
// differences that homes have passed on. By any thread.
class FlushesUnderWay {
 public:
  void add() { sent_.fetch_add(1); }
  // Takes in an answer. False: no message is on its way that it could answer.
  bool answered(const wire::Flush& answer) {
    bool was_passed = answer.was_passed != 0;
    if (!was_passed && sent_.load() == 0) return false;
    // The answer for a passed difference may come before the answer which says that it was passed
    // on.
    if (!mutant(Mutant::kPassOnUnawaited))
      passed_.fetch_add(static_cast<std::int32_t>(answer.passed) - (was_passed ? 1 : 0));
    if (!was_passed) sent_.fetch_sub(1);
    return true;
  }
  std::uint32_t unanswered() const { return sent_.load(std::memory_order_relaxed); }
  bool over() const { return sent_.load() == 0 && passed_.load() == 0; }  // loaded in this order
  void clear() {
    sent_.store(0);
    passed_.store(0);
  }

 private:
  std::atomic<std::uint32_t> sent_{0};
  std::atomic<std::int32_t> passed_{0};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
