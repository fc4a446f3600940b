#include "transport/calls.h"

#include <cstring>
#include <mutex>

namespace terrane::transport {

std::uint64_t Calls::begin(NodeId peer, WritableBytes into, Outcome* outcome) {
  std::lock_guard hold(lock_);
  Toward& toward = toward_[peer.value];
  if (toward.lost) return 0;
  toward.under_way.fetch_add(1);
  if (outcome != nullptr) outcome->left.fetch_add(1);
  std::uint64_t number = next_++;
  calls_.emplace(number, Call{peer, into, outcome});
  return number;
}

bool Calls::note_unanswered(NodeId peer, bool is_covered) {
  std::lock_guard hold(lock_);
  Toward& toward = toward_[peer.value];
  if (!toward.lost && is_covered) toward.unanswered.fetch_add(1);
  return !toward.lost;
}

bool Calls::is_flushed(NodeId peer) const {
  const Toward& toward = toward_[peer.value];
  return toward.under_way.load() == 0 && toward.unanswered.load() == 0;
}

void Calls::finish(const Call& call, bool good) {
  Toward& toward = toward_[call.peer.value];
  if (!good) toward.failed.store(true);
  toward.under_way.fetch_sub(1);
  if (call.outcome == nullptr) return;
  if (!good) call.outcome->failed.store(true);
  call.outcome->left.fetch_sub(1);  // last: the waiting thread may go on
}

bool Calls::answer(NodeId peer, const CallHeader& header, Bytes data) {
  std::lock_guard hold(lock_);
  auto found = calls_.find(header.call);
  if (found == calls_.end() || found->second.peer != peer) return false;
  Call call = found->second;
  bool good = header.failed == 0;
  if (good && data.size() != call.into.size()) return false;
  if (good && !data.empty()) std::memcpy(call.into.data(), data.data(), data.size());
  calls_.erase(found);
  finish(call, good);
  return true;
}

bool Calls::is_lost(NodeId peer) {
  std::lock_guard hold(lock_);
  return toward_[peer.value].lost;
}

void Calls::lose(NodeId peer) {
  std::lock_guard hold(lock_);
  Toward& toward = toward_[peer.value];
  toward.lost = true;
  if (toward.unanswered.exchange(0) != 0) toward.failed.store(true);
  for (auto at = calls_.begin(); at != calls_.end();) {
    if (at->second.peer == peer) {
      finish(at->second, false);
      at = calls_.erase(at);
    } else {
      ++at;
    }
  }
}

}  // namespace terrane::transport
