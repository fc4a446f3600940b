#pragma once

#include <variant>

#include "protocol/steps/effects.h"
#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a thread may do for other nodes in the middle of its own operation. Its own operation goes
// on only afterwards, so nothing that the thread does meanwhile may wait for it.
struct Nesting {
  // The thread's own operation holds neither the consistency lock nor a block's.
  bool holds_nothing = false;
  // The thread makes an offer or gives a page back. Such an operation waits for no other one, and
  // may hold both locks.
  bool serves = false;

  bool may_serve() const { return !serves; }
  // A release waits for both locks.
  bool may_release() const {
    return holds_nothing && (!serves || mutant(Mutant::kReleaseInService));
  }
};

// Whether an operation that waits for the answer to this holds neither lock.
inline bool holds_nothing(const Event& asked) {
  return std::holds_alternative<LockAcquire>(asked) || std::holds_alternative<LockTry>(asked) ||
         std::holds_alternative<LockHandOff>(asked) ||
         std::holds_alternative<BarrierEnter>(asked) ||
         std::holds_alternative<BarrierGather>(asked) ||
         std::holds_alternative<BarrierArrive>(asked) || std::holds_alternative<CountSleep>(asked);
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
