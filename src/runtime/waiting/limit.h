#pragma once

#include <cstdint>

#include "platform/wait.h"

namespace terrane::runtime {

// When a wait ends without what it waits for.
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
  // Asked by the waiting thread at every wake; true: the wait ends. nullptr: nobody ends it. The
  // thread that makes it true wakes the waiting one by a signal; else that looks after kSleepNs.
  bool (*gives_up)();
};

}  // namespace terrane::runtime
