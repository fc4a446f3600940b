#pragma once

#include <optional>

#include "protocol/hlrc/locks.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/releases.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// What is taken of a count: `count` units, of those that were posted and of `room` more, which
// there are from the beginning. A semaphore has no room; a read-write lock has kMostReaders, of
// which a reader takes one and a writer all.
struct Units {
  static constexpr std::int64_t kMostReaders = 1 << 30;

  std::int64_t count = 1;
  std::int64_t room = 0;
};
// How long an operation waits: not at all; until it has what it asked for; or until its host says
// that the time has come (CountExpire).
enum class Patience : std::uint8_t { kTry, kForEver, kExpires };
// Of those that meet one is the last. kNowhere: the count has no tickets, and nobody waits.
enum class Arrival : std::uint8_t { kNowhere, kWaited, kLast };

// Counts, and what is made of them: semaphores, read-write locks, conditions, barriers of some
// threads. The functions are Hlrc's of the same names.
class CountOperations {
 public:
  CountOperations(NodeState& node, Releases& releases, Acquires& acquires, Locks& locks)
      : node_(node), releases_(releases), acquires_(acquires), locks_(locks) {}
  CountOperations(const CountOperations&) = delete;

  Task<std::uint64_t> change_count(Strand& s, LockId count, CountOp op, std::int64_t operand);
  Task<> await_count(Strand& s, LockId count, std::int64_t until);
  Task<bool> take_units(Strand& s, LockId count, Units units, Patience patience);
  Task<Arrival> arrive(Strand& s, LockId count);
  // The ticket comes first: whoever signals after he took the lock finds it.
  Task<LockResult> wait_condition(Strand& s, LockId condition, LockId lock,
                                  Patience patience = Patience::kForEver);
  // What a waiter may find changed was changed under his lock, which brings it to him.
  Task<> signal_condition(Strand& s, LockId condition, bool all);

 private:
  Task<> pass_on(Strand& s, LockId count, const std::optional<Grant>& learned, bool meets = false);
  Task<> await_others(Strand& s);
  Task<bool> sleep(Strand& s, LockId count, bool meets = false);
  Task<bool> sleep_or_give_up(Strand& s, LockId count, std::int64_t tickets);
  Task<> acquire_woken(Strand& s, LockId count, Woken woken, bool meets);

  NodeState& node_;
  Releases& releases_;
  Acquires& acquires_;
  Locks& locks_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
