#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At the home: a block that was written right after each tracking is left to leases for a while,
// ever longer. Its lock is held, or the node's consistency lock.
class Tracking {
 public:
  explicit Tracking(Past& past) : past_(past) {}

  bool tracks(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    if (past.track_skip == 0) return true;
    mark(Mark::kReleaseBacksOff);
    past.track_skip = static_cast<std::uint16_t>(past.track_skip - 1);
    return false;
  }
  void written(std::uint64_t block) {
    if (!past_.on(Heuristic::kTrackBackOff)) return;
    BlockHistory& past = past_.of(block);
    if (past.track_failures < past_.tunables.track_failures)
      past.track_failures = static_cast<std::uint8_t>(past.track_failures + 1);
    past.track_skip = past.track_failures < 2
                          ? std::uint16_t{0}
                          : static_cast<std::uint16_t>(4u << past.track_failures);
  }
  void home_came(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    past.track_failures = 0;
    past.track_skip = 0;
  }

 private:
  Past& past_;
};

// At the home: a few blocks that nobody writes cost each release a scan for each of their runs.
// After some releases they are left to leases, so that readers that need them no more drop them.
// Where readers need them they are tracked again, and stay so for twice as long. Under the node's
// consistency lock.
class IdleTracking {
 public:
  explicit IdleTracking(Past& past) : past_(past), wait_(past.tunables.untrack_after) {}

  bool ends(std::uint64_t blocks) {
    if (!past_.on(Heuristic::kUntrackIdle) || blocks > past_.tunables.untrack_most) return false;
    if (++idle_ < wait_) return false;
    idle_ = 0;
    ended_ = true;
    return true;
  }
  void tracked() {
    idle_ = 0;
    if (ended_ && wait_ < kLongest) wait_ *= 2;
    ended_ = false;
  }
  void written() { idle_ = 0; }

 private:
  static constexpr std::uint32_t kLongest = 1 << 20;  // releases

  Past& past_;
  std::uint32_t wait_;      // releases on end that find nothing written
  std::uint32_t idle_ = 0;  // of these
  bool ended_ = false;      // since a block was tracked
};

// At a copy that is written with the values that were there: no thread has to know, but its home
// should, since such a writer would come for the block for ever. It gets a notice, ever more
// seldom. The lock is held.
class SilentWrites {
 public:
  explicit SilentWrites(Past& past) : past_(past) {}

  bool tells(std::uint64_t block) {
    if (!past_.on(Heuristic::kTellUnchanged)) return false;
    BlockHistory& past = past_.of(block);
    if (past.silent_skip > 0) {
      past.silent_skip = static_cast<std::uint16_t>(past.silent_skip - 1);
      return false;
    }
    if (past.silent < past_.tunables.most_silent)
      past.silent = static_cast<std::uint8_t>(past.silent + 1);
    past.silent_skip = static_cast<std::uint16_t>(1u << past.silent);
    return true;
  }
  void home_came(std::uint64_t block) {
    past_.of(block).silent = 0;
    past_.of(block).silent_skip = 0;
  }

 private:
  Past& past_;
};

// Copies that one release after the other finds written are kept open, until several on end find
// one unchanged.
class OpenCopies {
 public:
  explicit OpenCopies(Past& past) : past_(past) {}

  bool keeps_open(std::uint64_t block) const {
    return past_.on(Heuristic::kKeepOpen) &&
           past_.of(block).written_on_end >= past_.tunables.open_after;
  }
  void compared(std::uint64_t block, bool written) {
    BlockHistory& past = past_.of(block);
    bool open = past.written_on_end >= past_.tunables.open_after;
    if (written) {
      if (!open) past.written_on_end = static_cast<std::uint8_t>(past.written_on_end + 1);
      past.same_on_end = 0;
    } else if (!open || past.same_on_end + 1 >= past_.tunables.close_after) {
      forget(block);
    } else {
      past.same_on_end = static_cast<std::uint8_t>(past.same_on_end + 1);
    }
  }
  void forget(std::uint64_t block) {
    past_.of(block).written_on_end = 0;
    past_.of(block).same_on_end = 0;
  }

 private:
  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
