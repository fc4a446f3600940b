#include "tools/launch/vigil.h"

#include <algorithm>
#include <utility>

namespace terrane::tools {

void Vigil::heard(std::uint32_t peer, std::uint64_t now_ms) {
  Peer& one = peers_[peer];
  if (one.judged && now_ms <= one.heard_ms) return;
  one = {.judged = true, .heard_ms = now_ms};
}

std::vector<std::uint32_t> Vigil::look(std::uint64_t now_ms) {
  std::uint64_t longest = period_ms() + period_ms() / 2;
  std::uint64_t own = std::min(now_ms - std::exchange(looked_ms_, now_ms), longest);
  std::vector<std::uint32_t> silent;
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
    Peer& one = peers_[peer];
    if (!one.judged) continue;
    one.silent_ms += std::min(own, now_ms - std::min(one.heard_ms, now_ms));
    if (one.silent_ms >= limit_ms_) silent.push_back(peer);
  }
  return silent;
}

}  // namespace terrane::tools
