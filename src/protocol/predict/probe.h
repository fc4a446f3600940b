#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A copy that was refreshed for long is unmapped, and stays a copy that is refreshed. A fault that
// finds it shows that it is used, and costs no message; then it is asked to ever more seldom. One
// that no thread comes for is dropped (refresh.h).
class Probe {
 public:
  explicit Probe(Past& past) : past_(past) {}

  // Whether the copy, just refreshed, is unmapped now.
  bool probes(std::uint64_t block) const {
    const BlockHistory& past = past_.of(block);
    return past_.on(Heuristic::kProbe) && !past.on_trial &&
           past.renewed == past_.most_renewed(past);
  }
  // Whether it was, and has not been shown to be used since.
  bool is_unmapped(std::uint64_t block) const {
    const BlockHistory& past = past_.of(block);
    return !past.on_trial && past.renewed >= past_.most_renewed(past);
  }
  // Before it is refreshed: whether it was unmapped when it was refreshed the last time, and no
  // thread has come for it.
  bool is_unused(std::uint64_t block) const {
    return past_.on(Heuristic::kProbe) && past_.of(block).renewed > 0 && is_unmapped(block);
  }
  // A fault has come for it. Its lock is held.
  void show(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    const Tunables& t = past_.tunables;
    past.renewed = 0;
    if (past_.is_hot(past) && past.missed < t.hot_after + t.most_doubled)
      past.missed = static_cast<std::uint8_t>(past.missed + 1);
  }
  // How many from this one on come back into the view with it, as often as a page is prefetched
  // without a miss of its own.
  std::uint64_t count(std::uint64_t block, std::uint64_t most) const {
    std::uint64_t count = 1;
    most = std::min(most, past_.blocks() - block);
    while (count < most && is_unmapped(block + count) &&
           past_.of(block + count).brought < past_.tunables.most_brought)
      ++count;
    return count;
  }

 private:
  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
