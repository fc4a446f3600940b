#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/waiting/constants.h"

namespace terrane::runtime::waiting {

// How the handler thread sleeps (decision 0012). What wakes it is often of use only to threads of
// its own node, which are about to look for it themselves and lose their processor to it. After
// that has happened a few times in a row no message wakes the handler thread: it looks by itself,
// at first each millisecond, and more seldom the longer nothing urgent has come. So the first
// urgent message waits for at most an eighth of the time in which no message woke the thread, or
// a millisecond, if no thread of the node polls. By one thread.
class HandlerSleep {
 public:
  // What the thread has taken in since it woke: any message, and one that others wait for.
  void took(bool any, bool urgent, std::uint64_t now_ns) {
    if (!any) return;
    if (urgent) {
      idle_wakes_ = 0;
    } else if (idle_wakes_ < kIdleWakes && ++idle_wakes_ == kIdleWakes) {
      patient_since_ns_ = now_ns;
    }
  }
  // 0: messages wake it. Else how long until it looks by itself.
  std::uint64_t patience_ns(std::uint64_t now_ns) const {
    if (idle_wakes_ < kIdleWakes) return 0;
    return std::clamp((now_ns - patient_since_ns_) / 8, kFirstLookNs, kSeldomLookNs);
  }

 private:
  std::uint32_t idle_wakes_ = 0;  // in a row
  std::uint64_t patient_since_ns_ = 0;
};

}  // namespace terrane::runtime::waiting
