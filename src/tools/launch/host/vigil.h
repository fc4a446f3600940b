#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace terrane::tools {

// Judges by signs of life which peers are alive. Reads no clock. Silence counts only while the
// judge itself runs: time in which it could not look (a laptop that slept, a machine without
// processor time) is no peer's fault. A peer that was never heard of is not judged unless it is
// expected.
//
// A peer that is silent while its kernel still answers is late: its process is stopped or gets no
// processor, but the host and the link are well. It is given more time.
class Vigil {
 public:
  // `limit_ms` > 0: silence of this length, of process and kernel, is death. `late_limit_ms`: so is
  // silence of this length of the process alone; at least `limit_ms` in any case.
  Vigil(std::uint32_t peers, std::uint64_t limit_ms, std::uint64_t late_limit_ms = 0)
      : limit_ms_(limit_ms), late_limit_ms_(std::max(limit_ms, late_limit_ms)), peers_(peers) {}

  // How often to call look(), and how often the living speak.
  std::uint64_t period_ms() const { return limit_ms_ / 5 == 0 ? 1 : limit_ms_ / 5; }
  std::uint64_t limit_ms() const { return limit_ms_; }
  void set_late_limit_ms(std::uint64_t ms) { late_limit_ms_ = std::max(limit_ms_, ms); }

  // From now on the peer is judged.
  void expect(std::uint32_t peer, std::uint64_t now_ms) { heard(peer, now_ms); }
  // Its process gave a sign at this time; an old one counts nothing.
  void heard(std::uint32_t peer, std::uint64_t at_ms);
  // Its kernel acknowledged at this time what was sent to it.
  void answered(std::uint32_t peer, std::uint64_t at_ms);
  // It has left in order: it is judged no more.
  void dismiss(std::uint32_t peer) { peers_[peer].judged = false; }

  // The peers that are dead.
  std::vector<std::uint32_t> look(std::uint64_t now_ms);
  // Of a peer that is judged, as of the last look: it has been silent for two periods or longer.
  bool is_late(std::uint32_t peer) const;
  // Of a dead peer: its kernel still answers.
  bool answers(std::uint32_t peer) const { return peers_[peer].unanswered_ms < limit_ms_; }
  // The silence that made a peer dead.
  std::uint64_t silence_ms(std::uint32_t peer) const {
    return answers(peer) ? late_limit_ms_ : limit_ms_;
  }

 private:
  struct Peer {
    bool judged = false;
    std::uint64_t heard_at_ms = 0, answered_at_ms = 0;
    std::uint64_t silent_ms = 0, unanswered_ms = 0;  // of the judge's time, since then
  };

  std::uint64_t limit_ms_, late_limit_ms_;
  std::uint64_t looked_ms_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace terrane::tools
