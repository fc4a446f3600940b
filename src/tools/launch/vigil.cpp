#include "tools/launch/vigil.h"

#include <algorithm>

namespace terrane::tools {

void Vigil::heard(std::uint32_t peer, std::uint64_t now_ms) {
  peers_[peer].judged = true;
  peers_[peer].heard_ms = std::max(peers_[peer].heard_ms, now_ms);
}

std::vector<std::uint32_t> Vigil::look(std::uint64_t now_ms) {
  bool slept = looked_ms_ != 0 && now_ms - looked_ms_ > limit_ms_ / 2;
  looked_ms_ = now_ms;
  std::vector<std::uint32_t> silent;
  for (std::uint32_t peer = 0; peer < peers_.size(); ++peer) {
    Peer& one = peers_[peer];
    if (!one.judged) continue;
    if (slept) one.heard_ms = std::max(one.heard_ms, now_ms);
    if (now_ms >= one.heard_ms + limit_ms_) silent.push_back(peer);
  }
  return silent;
}

}  // namespace terrane::tools
