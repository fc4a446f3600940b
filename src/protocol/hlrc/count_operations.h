#pragma once

#include <optional>

#include "protocol/hlrc/locks.h"
#include "protocol/hlrc/releases.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What an operation takes of a count: `count` units, out of the posted ones and `room` more, which
// exist from the beginning. A semaphore has no room. A read-write lock has kMostReaders, of which a
// reader takes one and a writer takes all.
struct Units {
  static constexpr std::int64_t kMostReaders = 1 << 30;

  std::int64_t count = 1;
  std::int64_t room = 0;
};
// How long an operation waits: not at all; until it has what it asked for; or until its host says
// that the time has expired (CountExpire).
enum class Patience : std::uint8_t { kTry, kForEver, kExpires };
// A thread's part in a rendezvous: one arrives last. kNowhere: the count has no tickets; no thread
// waits.
enum class Arrival : std::uint8_t { kNowhere, kWaited, kLast };

// Counts, and what is built from them: semaphores, read-write locks, conditions, and rendezvous of
// some threads. The functions are those of Hlrc with these names.
class CountOperations {
 public:
  CountOperations(NodeState& node, Releases& releases, Acquires& acquires, Locks& locks)
      : node_(node), releases_(releases), acquires_(acquires), locks_(locks) {}
  CountOperations(const CountOperations&) = delete;

  Task<std::uint64_t> change_count(Strand& s, LockId count, CountOp op, std::int64_t operand);
  Task<> await_count(Strand& s, LockId count, std::int64_t until);
  Task<bool> take_units(Strand& s, LockId count, Units units, Patience patience);
  Task<Arrival> arrive(Strand& s, LockId count);
  // Takes a ticket before it releases the lock, so a thread that takes the lock afterwards and
  // signals finds the ticket.
  Task<LockResult> wait_condition(Strand& s, LockId condition, LockId lock,
                                  Patience patience = Patience::kForEver);
  // No release: what the waiting thread may find changed was changed under its lock, and that
  // lock's token carries the notices.
  Task<> signal_condition(Strand& s, LockId condition, bool all);

 private:
  Task<> pass_on(Strand& s, LockId count, const std::optional<Grant>& learned,
                 bool at_rendezvous = false);
  Task<> await_others(Strand& s);
  Task<bool> sleep(Strand& s, LockId count, bool at_rendezvous = false);
  Task<bool> sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets);
  Task<> acquire_woken(Strand& s, LockId count, Woken woken, bool at_rendezvous);

  NodeState& node_;
  Releases& releases_;
  Acquires& acquires_;
  Locks& locks_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
