#pragma once

#include <cstdint>

namespace terrane::platform {

// The processor's counter of time, read in half the time of a clock: where the kernel takes it for
// its own clock, so that it goes on at one rate and is the same on all processors; elsewhere the
// clock itself (now_ns). Times and durations of one process; TickScale makes nanoseconds of them.
std::uint64_t ticks();

// Makes moments of CLOCK_MONOTONIC of ticks, by marks of both. One thread at a time.
class TickScale {
 public:
  TickScale() : from_(mark_now()), to_(from_) {}

  // Now. Moments since the mark before it are then right to a microsecond: what is to be converted
  // is converted after the next mark.
  void mark();
  std::uint64_t moment_ns(std::uint64_t ticks) const {
    return to_.ns + static_cast<std::uint64_t>(in_ns(static_cast<std::int64_t>(ticks - to_.ticks)));
  }
  std::uint64_t duration_ns(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(in_ns(static_cast<std::int64_t>(ticks)));
  }

 private:
  struct Mark {
    std::uint64_t ticks, ns;
  };
  static Mark mark_now();
  std::int64_t in_ns(std::int64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(ticks) * ns_per_tick_);
  }

  Mark from_, to_;  // the rate is that between them
  double ns_per_tick_ = 1;
};

}  // namespace terrane::platform
