#pragma once

#include <algorithm>
#include <cstdint>

namespace terrane::runtime {

// How the handler thread sleeps (decision 0012). What wakes it is often of use only to threads of
// its own node, which are about to look for it themselves and are pushed aside by it. After that
// has happened a few times on end no message wakes it: it looks by itself, at first each
// millisecond, and more seldom the longer nothing that is urgent has come. So the first urgent
// message waits for at most an eighth of the time in which nobody was woken, or a millisecond, if
// no thread of the node polls. By one thread.
class HandlerSleep {
 public:
  // What the thread has taken in since it woke: something, and something that others wait for.
  void took(bool anything, bool urgent, std::uint64_t now_ns) {
    if (!anything) return;
    if (urgent) {
      idle_wakes_ = 0;
    } else if (idle_wakes_ < kIdleWakes && ++idle_wakes_ == kIdleWakes) {
      patient_since_ns_ = now_ns;
    }
  }
  // 0: messages wake it. Else how long until it looks by itself.
  std::uint64_t patience_ns(std::uint64_t now_ns) const {
    if (idle_wakes_ < kIdleWakes) return 0;
    return std::clamp((now_ns - patient_since_ns_) / 8, kLeastNs, kMostNs);
  }

 private:
  static constexpr std::uint32_t kIdleWakes = 4;
  static constexpr std::uint64_t kLeastNs = 1'000'000;
  static constexpr std::uint64_t kMostNs = 20'000'000;

  std::uint32_t idle_wakes_ = 0;  // on end
  std::uint64_t patient_since_ns_ = 0;
};

}  // namespace terrane::runtime
