#pragma once

#include "protocol/predict/past.h"
#include "protocol/predict/predictor.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// At the home: a block that was written soon after each tracking is left to leases for a while,
// longer each time. The block's lock or the node's consistency lock is held.
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
  // Whether it stays tracked. Each fence drops the leases, so at a node that makes many of them a
  // reader would fetch a block time after time. One that is tracked stays so, until it was found
  // written so often that its readers have to ask again.
  bool written(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    bool often = fences_often();
    bool keeps = often && past.kept_tracked < past_.tunables.most_kept_tracked;
    past.kept_tracked = keeps ? static_cast<std::uint8_t>(past.kept_tracked + 1) : std::uint8_t{0};
    if (!often && past_.on(Heuristic::kTrackBackOff)) back_off(past);
    return keeps;
  }
  void home_came(std::uint64_t block) {
    BlockHistory& past = past_.of(block);
    past.track_failures = 0;
    past.track_skip = 0;
    past.kept_tracked = 0;
  }

  void count_fence() {
    if (fences_ < kMostFences) fences_ = fences_ + 1;
  }
  void round_ends() {
    std::uint32_t a_round = past_.tunables.fences_a_round;
    fences_ = fences_ > a_round ? fences_ - a_round : 0;
  }

 private:
  static constexpr std::uint32_t kMostFences = 1024;

  void back_off(BlockHistory& past) const {
    if (past.track_failures < past_.tunables.track_failures)
      past.track_failures = static_cast<std::uint8_t>(past.track_failures + 1);
    past.track_skip = past.track_failures < 2
                          ? std::uint16_t{0}
                          : static_cast<std::uint16_t>(4u << past.track_failures);
  }
  bool fences_often() const {
    return past_.on(Heuristic::kKeepTracked) && fences_ >= past_.tunables.many_fences;
  }

  Past& past_;
  Guess<std::uint32_t> fences_;  // grows with each fence, less with each round
};

// At the home: a few tracked blocks that no node writes cost each release a scan for each of their
// runs. After some releases they go back to leases, so that readers that do not need them any more
// drop them. If readers need them, they are tracked again, for twice as many releases. Under the
// node's consistency lock.
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
  std::uint32_t wait_;      // releases in a row without a written block, until blocks go back
  std::uint32_t idle_ = 0;  // how many there were so far
  bool ended_ = false;      // blocks went back, and none was tracked since
};

// At a copy that is written with the values that were there. No reader needs to know, but the home
// should: without a notice it would never offer the block, and the writer would fetch it for ever.
// The home gets a notice, more and more seldom. The block's lock is held.
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

// A copy that several releases in a row find written is kept open, until several in a row find it
// unchanged.
class OpenCopies {
 public:
  explicit OpenCopies(Past& past) : past_(past) {}

  bool keeps_open(std::uint64_t block) const {
    return past_.on(Heuristic::kKeepOpen) &&
           past_.of(block).written_in_a_row >= past_.tunables.open_after;
  }
  void compared(std::uint64_t block, bool written) {
    BlockHistory& past = past_.of(block);
    bool open = past.written_in_a_row >= past_.tunables.open_after;
    if (written) {
      if (!open) past.written_in_a_row = static_cast<std::uint8_t>(past.written_in_a_row + 1);
      past.same_in_a_row = 0;
    } else if (!open || past.same_in_a_row + 1 >= past_.tunables.close_after) {
      forget(block);
    } else {
      past.same_in_a_row = static_cast<std::uint8_t>(past.same_in_a_row + 1);
    }
  }
  void forget(std::uint64_t block) {
    past_.of(block).written_in_a_row = 0;
    past_.of(block).same_in_a_row = 0;
  }

 private:
  Past& past_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
