#pragma once

#include <algorithm>
#include <cstdint>

#include "waiting/constants.h"

namespace terrane::waiting {

// How the handler thread sleeps (decision 0012). Often its wake-up is of use only to threads of its
// own node, which were about to poll anyway, and which lose their processor to it. After a few such
// wake-ups in a row, no message wakes the handler thread. Instead it looks by itself, at first each
// millisecond, and more rarely the longer nothing urgent comes. So, if no thread of the node polls,
// the first urgent message waits for at most an eighth of the time in which no message woke the
// thread, or for a millisecond. Used by one thread.
class HandlerSleep {
 public:
  // What the thread has delivered since it woke: any message, and a message that others wait for.
  void took(bool any, bool urgent, std::uint64_t now_ns) {
    if (!any) return;
    if (urgent) {
      idle_wakes_ = 0;
    } else if (idle_wakes_ < kIdleWakes && ++idle_wakes_ == kIdleWakes) {
      patient_since_ns_ = now_ns;
    }
  }
  // 0: messages wake the thread. Otherwise the time until it looks by itself.
  std::uint64_t patience_ns(std::uint64_t now_ns) const {
    if (idle_wakes_ < kIdleWakes) return 0;
    return std::clamp((now_ns - patient_since_ns_) / 8, kFirstLookNs, kSeldomLookNs);
  }

 private:
  std::uint32_t idle_wakes_ = 0;  // in a row
  std::uint64_t patient_since_ns_ = 0;
};

}  // namespace terrane::waiting
