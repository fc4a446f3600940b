#pragma once

#include <variant>

#include "protocol/steps/effects.h"
#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What a thread may do for other nodes while it waits in the middle of its own operation. Its own
// operation continues only afterwards, so nothing that the thread does meanwhile may wait for that
// operation.
struct Nesting {
  // The thread's own operation holds neither the consistency lock nor the lock of a block.
  bool holds_nothing = false;
  // The thread waits for a barrier exit, after which it sends the pushes of its node. Threads of
  // other nodes wait for these with their consistency locks, which an eager release needs there.
  bool owes_pushes = false;
  // The thread is making an offer or giving a page back. Such an operation waits for no other one,
  // and may hold both locks.
  bool serves = false;

  // The operation waits for the answer to this event from now on, or no longer.
  void wait_for(const Event& asked) {
    holds_nothing =
        std::holds_alternative<LockAcquire>(asked) || std::holds_alternative<LockTry>(asked) ||
        std::holds_alternative<LockHandOff>(asked) || std::holds_alternative<BarrierEnter>(asked) ||
        std::holds_alternative<BarrierGather>(asked) ||
        std::holds_alternative<BarrierArrive>(asked) || std::holds_alternative<CountSleep>(asked);
    owes_pushes = std::holds_alternative<BarrierArrive>(asked);
  }
  void go_on() { holds_nothing = owes_pushes = false; }

  bool may_serve() const { return !serves; }
  // A release takes both locks.
  bool may_release() const {
    return holds_nothing && !owes_pushes && (!serves || mutant(Mutant::kReleaseInService));
  }
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
