#include "protocol/chunks/chunk_leave.h"

#include <algorithm>
#include <numeric>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

void ChunkLeave::begin(WaiterId waiter) {
  waiter_ = waiter;
  asked_ = false;
  still_to_hear_.clear();
}

// This node may leave when the homes have everything that it sent. It asks them last of all:
// messages of one node are handled in the order in which it sent them.
void ChunkLeave::go_on() {
  if (!waiter_) return;
  if (copies_.awaits_homes()) {
    mark(Mark::kLeaveMeetsRebuild);
    return;
  }
  if ((!give_all_back() || !work_.may_leave()) && !mutant(Mutant::kLeaveUnheard)) {
    mark(Mark::kLeaveWaits);
    return;
  }
  if (!asked_) {
    asked_ = true;
    std::vector<std::uint64_t> slots(view_.name_slots());
    std::iota(slots.begin(), slots.end(), 0u);
    for (const auto& [id, copy] : copies_.all()) slots.push_back(id >> kSlotShift);
    for (std::uint64_t s : slots) {
      NodeId home = view_.slots[s].home;
      if (std::find(still_to_hear_.begin(), still_to_hear_.end(), home) != still_to_hear_.end())
        continue;
      still_to_hear_.push_back(home);
      outbox_.send(home, {.kind = ChunkKind::kLeave, .chunk = s});
    }
  }
  std::erase_if(still_to_hear_, [&](NodeId home) { return !view_.has(home); });
  if (!still_to_hear_.empty() && !mutant(Mutant::kLeaveUnheard)) return;
  outbox_.resume(*waiter_, Status::kOk);
  waiter_.reset();
}

// Evicts all copies. False: an answer has not come yet.
bool ChunkLeave::give_all_back() {
  if (mutant(Mutant::kLeaveWithCopies)) return true;
  bool all = true;
  for (auto& [id, copy] : copies_.all()) {
    if (copy.gone) continue;
    if (copy.state != State::kInvalid && copies_.is_evictable(ChunkId{id}, copy)) {
      mark(Mark::kLeaveGivesBack);
      copies_.evict(ChunkId{id}, copy);
    }
    all &= copy.state == State::kInvalid && !copy.asks() && !copy.evicting && !copy.due &&
           copy.waiters.empty();
  }
  return all;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
