#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "waiting/constants.h"
#include "waiting/decision.h"

namespace terrane::waiting {

// Programs outside this job that compete for the processors of this process. The process's own
// waits detect them (decision 0022). Any thread may call. The answers are guesses: only speed
// depends on them.
class Competitors {
 public:
  // A polling thread had no processor for kLostNs or longer, until now.
  void lost(std::uint64_t now_ns) {
    if (!is_before(now_ns, keeps_until_ns_)) set(shares_until_ns_, now_ns + kSharesNs);
  }
  // A polling thread yielded its processor, and got it back after `took_ns`.
  void yielded(std::uint64_t took_ns, std::uint64_t now_ns) {
    if (took_ns < kTakenNs) return;
    if (took_ns < kKeptNs) {
      set(no_yield_ns_, kNoYieldNs);
      set(shares_until_ns_, now_ns + kSharesNs);
      return;
    }
    std::uint64_t no_yield_ns = get(no_yield_ns_);
    set(keeps_until_ns_, now_ns + no_yield_ns);
    set(no_yield_ns_, std::min(2 * no_yield_ns, kLongestNoYieldNs));
    set(shares_until_ns_, 0);
  }
  // No other thread used the last kYieldsCounted yields of a thread.
  void refused() { set(shares_until_ns_, 0); }
  Competition at(std::uint64_t now_ns) const {
    if (is_before(now_ns, keeps_until_ns_)) return Competition::kKeeps;
    return is_before(now_ns, shares_until_ns_) ? Competition::kShares : Competition::kNone;
  }

 private:
  using Time = std::atomic<std::uint64_t>;

  static std::uint64_t get(const Time& time) { return time.load(std::memory_order_relaxed); }
  static void set(Time& time, std::uint64_t to) { time.store(to, std::memory_order_relaxed); }
  static bool is_before(std::uint64_t now_ns, const Time& until) { return now_ns < get(until); }

  Time shares_until_ns_{0};
  Time keeps_until_ns_{0};
  Time no_yield_ns_{kNoYieldNs};
};

}  // namespace terrane::waiting
