#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// A copy that was refreshed for long is unmapped; it stays a copy, and is refreshed. A fault that
// finds it shows that it is used, and costs no message. After that it is unmapped more and more
// seldom. A copy that no thread uses is dropped (refresh.h).
class Probe {
 public:
  explicit Probe(Past& past) : past_(past) {}

  // Whether the copy, just refreshed, is unmapped now.
  bool probes(std::uint64_t block) const {
    const BlockHistory& past = past_.of(block);
    return past_.on(Heuristic::kProbe) && !past.on_probation &&
           past.refreshes == past_.most_refreshes(past);
  }
  // Whether the copy was unmapped, and its use has not been shown since.
  bool is_unmapped(std::uint64_t block) const {
    const BlockHistory& past = past_.of(block);
    return !past.on_probation && past.refreshes >= past_.most_refreshes(past);
  }
  // Before a refresh: whether the copy was unmapped at the last refresh, and no thread has used it
  // since.
  bool is_unused(std::uint64_t block) const {
    return past_.on(Heuristic::kProbe) && past_.of(block).refreshes > 0 && is_unmapped(block);
  }
  // A fault found the copy. Its lock is held.
  void show(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    const Tunables& t = past_.tunables;
    past.refreshes = 0;
    if (past_.is_refreshed(past) && past.missed < t.refresh_after + t.most_doubled)
      past.missed = static_cast<std::uint8_t>(past.missed + 1);
  }
  // How many copies from this one on return to the view together. A copy may return in this way as
  // often as a page is prefetched without a miss of its own.
  std::uint64_t count(std::uint64_t block, std::uint64_t most) const {
    std::uint64_t count = 1;
    most = std::min(most, past_.blocks() - block);
    while (count < most && is_unmapped(block + count) &&
           past_.of(block + count).prefetched < past_.tunables.most_prefetched)
      ++count;
    return count;
  }

 private:
  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
