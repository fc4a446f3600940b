// What a client does to leave a job that continues.
#include <algorithm>
#include <numeric>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

void ChunkCache::leave(const Leave& event) {
  leaves_ = event.waiter;
  asked_to_leave_ = false;
  still_to_hear_.clear();
  for (auto& [id, copy] : copies_)
    if (copy.subscribed) unsubscribe(ChunkId{id});
  work_.leave();
}

// This node may leave when the homes have everything that it sent. It asks them last of all:
// messages of one node are handled in the order in which it sent them.
void ChunkCache::go_on_leaving() {
  if (!leaves_) return;
  if (!rebuilding_.empty()) {
    mark(Mark::kLeaveMeetsRebuild);
    return;
  }
  if ((!give_all_back() || !work_.may_leave()) && !mutant(Mutant::kLeaveUnheard)) {
    mark(Mark::kLeaveWaits);
    return;
  }
  if (!asked_to_leave_) {
    asked_to_leave_ = true;
    std::vector<std::uint64_t> slots(view_.name_slots());
    std::iota(slots.begin(), slots.end(), 0u);
    for (const auto& [id, copy] : copies_) slots.push_back(id >> kSlotShift);
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
  outbox_.resume(*leaves_, Status::kOk);
  leaves_.reset();
}

// Evicts all copies. False: an answer has not come yet.
bool ChunkCache::give_all_back() {
  if (mutant(Mutant::kLeaveWithCopies)) return true;
  bool all = true;
  for (auto& [id, copy] : copies_) {
    if (copy.gone) continue;
    if (copy.state != State::kInvalid && copy.is_evictable(awaits_home(ChunkId{id}))) {
      mark(Mark::kLeaveGivesBack);
      evict(ChunkId{id}, copy);
    }
    all &= copy.state == State::kInvalid && !copy.asks() && !copy.evicting && !copy.due &&
           copy.waiters.empty();
  }
  return all;
}

bool ChunkCache::left(NodeId from) {
  std::erase(still_to_hear_, from);
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
