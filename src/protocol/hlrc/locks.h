#pragma once

#include <optional>

#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/home_words.h"
#include "protocol/hlrc/node_state.h"
#include "protocol/hlrc/releases.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

enum class LockResult : std::uint8_t { kOk, kNotHeld, kHeldAlready, kBusy, kExpired };

// Locks: an acquire where the token comes from another node, a release where it leaves. The
// functions are Hlrc's of the same names.
class Locks {
 public:
  Locks(NodeState& node, HomeWords& homes, Releases& releases, Acquires& acquires)
      : node_(node), homes_(homes), releases_(releases), acquires_(acquires) {}
  Locks(const Locks&) = delete;

  Task<bool> lock(Strand& s, LockId lock);
  Task<LockResult> try_lock(Strand& s, LockId lock);
  Task<LockResult> unlock(Strand& s, LockId lock);
  // The token of a count, for steps that wait for nobody. Where it came from another node, this one
  // has learned what came with it, and Acquires::apply_learned() has to follow once the token was
  // passed on.
  Task<std::optional<Grant>> take_count(Strand& s, LockId count);
  // A release that began after the lock was given back has found what its holder wrote.
  Task<std::uint64_t> release_kept(Strand& s, ReleaseKept kept);
  // The token leaves some time after its node's turn was extended.
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
