#pragma once

#include <optional>

#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/releases.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

enum class LockResult : std::uint8_t { kOk, kNotHeld, kHeldAlready, kBusy, kExpired };

// Locks: an acquire if the token comes from another node, a release when it leaves. The functions
// are those of Hlrc with these names.
class Locks {
 public:
  Locks(NodeState& node, HomeWords& homes, Releases& releases, Acquires& acquires)
      : node_(node), homes_(homes), releases_(releases), acquires_(acquires) {}
  Locks(const Locks&) = delete;

  Task<bool> lock(Strand& s, LockId lock);
  Task<LockResult> try_lock(Strand& s, LockId lock);
  Task<LockResult> unlock(Strand& s, LockId lock);
  // Takes the token of a count, for steps that wait for no thread. Result: if the token came from
  // another node, what came with it, which this node has learned. The caller passes the token on
  // and then calls Acquires::apply_learned().
  Task<std::optional<Grant>> take_count(Strand& s, LockId count);
  // A release that began after the lock was given back suffices: it has found what the holder
  // wrote.
  Task<std::uint64_t> release_kept(Strand& s, ReleaseKept kept);
  // Some time after a turn was extended: the token leaves as soon as no thread here holds the lock.
  Task<> end_turn(Strand& s, LockId lock);

 private:
  Task<Acquired> take(Strand& s, LockId lock);
  static Grant grant_of(Strand& s, Acquired how);

  NodeState& node_;
  HomeWords& homes_;
  Releases& releases_;
  Acquires& acquires_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
