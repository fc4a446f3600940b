#pragma once

#include "protocol/copies/flushes.h"
#include "protocol/hlrc/faults.h"
#include "protocol/homes/home_words.h"
#include "protocol/homes/tracked_homes.h"
#include "protocol/node/node_state.h"
#include "protocol/node/notices.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// The result of an atomic operation: that of a fault, and the word before the operation.
struct AtomicDone {
  FaultResult result = FaultResult::kDone;
  std::uint64_t before = 0;
};

// Atomic operations on shared words. They are done in the home's memory, never in a copy: by the
// machine's atomic instructions if that memory can be reached, else by the home's handler thread.
// To the protocol an atomic operation is a flush of one word: it counts as storing at a home, ends
// offers, follows homes that move, and gives a notice.
class Atomics {
 public:
  Atomics(NodeState& node, Notices& notices, HomeWords& homes, TrackedHomes& tracked_homes,
          Flushes& flushes, Faults& faults)
      : node_(node),
        notices_(notices),
        homes_(homes),
        tracked_homes_(tracked_homes),
        flushes_(flushes),
        faults_(faults) {}
  Atomics(const Atomics&) = delete;

  // As Hlrc::atomic.
  Task<AtomicDone> atomic(Strand& s, BlockId block, AtomicOp op);

 private:
  Task<AtomicDone> atomic_held(Strand& s, std::uint64_t block, const AtomicOp& op);
  Task<BlockState> flush_before_atomic(Strand& s, std::uint64_t block, BlockState state);
  bool has_twin(std::uint64_t block, BlockState state) const;
  Task<std::uint64_t> atomic_at_home(Strand& s, std::uint64_t block, const AtomicOp& op);
  Task<std::uint64_t> atomic_elsewhere(Strand& s, std::uint64_t block, const AtomicOp& op);

  NodeState& node_;
  Notices& notices_;
  HomeWords& homes_;
  TrackedHomes& tracked_homes_;
  Flushes& flushes_;
  Faults& faults_;
  AtHome at_home_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
