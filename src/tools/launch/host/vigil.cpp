#include "tools/launch/host/vigil.h"

#include <utility>

namespace terrane::tools {

void Vigil::heard(std::uint32_t peer, std::uint64_t at_ms) {
  Peer& one = peers_[peer];
  if (one.judged && at_ms <= one.heard_at_ms) return;
  std::uint64_t answered = std::max(at_ms, one.answered_at_ms);
  one = {.judged = true, .heard_at_ms = at_ms, .answered_at_ms = answered};
}

void Vigil::answered(std::uint32_t peer, std::uint64_t at_ms) {
  Peer& one = peers_[peer];
  if (!one.judged || at_ms <= one.answered_at_ms) return;
  one.answered_at_ms = at_ms;
  one.unanswered_ms = 0;
}

std::vector<std::uint32_t> Vigil::look(std::uint64_t now_ms) {
  std::uint64_t longest = period_ms() + period_ms() / 2;
  std::uint64_t own = std::min(now_ms - std::exchange(looked_ms_, now_ms), longest);
  auto since = [&](std::uint64_t at_ms) { return std::min(own, now_ms - std::min(at_ms, now_ms)); };
  std::vector<std::uint32_t> dead;
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
    Peer& one = peers_[peer];
    if (!one.judged) continue;
    one.silent_ms += since(one.heard_at_ms);
    one.unanswered_ms += since(one.answered_at_ms);
    bool is_dead = one.silent_ms >= (answers(peer) ? late_limit_ms_ : limit_ms_);
    if (is_dead) dead.push_back(peer);
  }
  return dead;
}

bool Vigil::is_late(std::uint32_t peer) const {
  return peers_[peer].judged && peers_[peer].silent_ms >= 2 * period_ms();
}

}  // namespace terrane::tools
