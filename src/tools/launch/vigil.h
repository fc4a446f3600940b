#pragma once

#include <cstdint>
#include <vector>

namespace terrane::tools {

// Judges by signs of life who is alive. Reads no clock. Silence counts only while the judge itself
// runs: when it was kept from looking (a laptop that slept, a machine without processor time), that
// time is nobody's fault. One that was never heard of is not judged unless it is expected to speak.
class Vigil {
 public:
  // `limit_ms` > 0: silence of this length is death.
  Vigil(std::uint32_t peers, std::uint64_t limit_ms) : limit_ms_(limit_ms), peers_(peers) {}

  // How often to call look(), and how often the living speak.
  std::uint64_t period_ms() const { return limit_ms_ / 5 == 0 ? 1 : limit_ms_ / 5; }
  std::uint64_t limit_ms() const { return limit_ms_; }

  // From now on the peer is judged.
  void expect(std::uint32_t peer, std::uint64_t now_ms) { heard(peer, now_ms); }
  // It gave a sign at this time; an old one counts nothing.
  void heard(std::uint32_t peer, std::uint64_t now_ms);
  // It has left in order: it is judged no more.
  void dismiss(std::uint32_t peer) { peers_[peer].judged = false; }

  // Who has been silent for the limit or longer.
  std::vector<std::uint32_t> look(std::uint64_t now_ms);

 private:
  struct Peer {
    bool judged = false;
    std::uint64_t heard_ms = 0;
    std::uint64_t silent_ms = 0;  // of the judge's time, since then
  };

  std::uint64_t limit_ms_;
  std::uint64_t looked_ms_ = 0;
  std::vector<Peer> peers_;
};

}  // namespace terrane::tools
