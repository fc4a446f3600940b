#pragma once

#include <cstdint>

#include "platform/wait.h"

namespace terrane::runtime {

// When a wait ends although what it waits for has not happened.
struct WaitLimit {
  static constexpr std::uint64_t kNever = ~0ull;

  WaitLimit(std::uint64_t time_ns = kNever, bool (*gives_up_now)() = nullptr)
      : until_ns(time_ns), gives_up(gives_up_now) {}

  bool is_none() const { return until_ns == kNever && gives_up == nullptr; }
  bool is_reached() const {
    if (gives_up != nullptr && gives_up()) return true;
    return until_ns != kNever && platform::now_ns() >= until_ns;
  }

  std::uint64_t until_ns;  // of platform::now_ns(); 0: the call does not wait
  // Called by the waiting thread at every wake-up; true: the wait ends. nullptr: no such condition.
  // The thread that makes it true wakes the waiting thread by a signal; otherwise that thread looks
  // after kSleepNs.
  bool (*gives_up)();
};

}  // namespace terrane::runtime
