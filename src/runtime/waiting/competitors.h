#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/waiting/constants.h"
#include "runtime/waiting/decision.h"

namespace terrane::runtime::waiting {

// What competes for the processors of this process and is not in the job's map: other programs,
// other jobs, containers with CPU shares, other guests of the machine. The waits of the process
// find out by themselves (decision 0022). A thread that polls and finds that it did not run for a
// while asks the kernel whether it was switched. If it was, a competitor had the processor. If it
// was not, the machine under this virtual machine had it. By any thread; guesses, which no thread
// relies on.
class Competitors {
 public:
  // A polling thread did not run for `gap_ns` until now; `switched`: the kernel ran another thread.
  void lost(bool switched, std::uint64_t gap_ns, std::uint64_t now_ns) {
    if (!switched) return stolen(gap_ns, now_ns);
    if (is_before(now_ns, keeps_until_ns_)) return;
    std::uint64_t until = get(shares_until_ns_);
    std::uint64_t hold = get(hold_ns_);
    if (now_ns >= until) {
      bool soon = until != 0 && now_ns - until < hold;
      hold = soon ? std::min(2 * hold, kLongestCompetitorNs) : kCompetitorNs;
      set(hold_ns_, hold);
    }
    set(shares_until_ns_, now_ns + hold);
  }
  // A polling thread yielded its processor, and has it back after `took_ns`.
  void yielded(std::uint64_t took_ns, std::uint64_t now_ns) {
    if (took_ns < kTakenNs) return;
    std::uint64_t no_yield = get(no_yield_ns_);
    if (took_ns < kKeptNs) {
      set(no_yield_ns_, kNoYieldNs);
      set(shares_until_ns_, now_ns + get(hold_ns_));
      return;
    }
    set(keeps_until_ns_, now_ns + no_yield);
    set(no_yield_ns_, std::min(2 * no_yield, kLongestNoYieldNs));
    set(shares_until_ns_, 0);
  }
  Competition at(std::uint64_t now_ns) const {
    if (is_before(now_ns, keeps_until_ns_)) return Competition::kKeeps;
    if (is_before(now_ns, shares_until_ns_)) return Competition::kShares;
    if (is_before(now_ns, stolen_until_ns_)) return Competition::kStolen;
    return Competition::kNone;
  }

 private:
  using Time = std::atomic<std::uint64_t>;

  static std::uint64_t get(const Time& time) { return time.load(std::memory_order_relaxed); }
  static void set(Time& time, std::uint64_t to) { time.store(to, std::memory_order_relaxed); }
  static bool is_before(std::uint64_t now_ns, const Time& until) { return now_ns < get(until); }

  void stolen(std::uint64_t gap_ns, std::uint64_t now_ns) {
    std::uint64_t before = get(stolen_ns_);
    if (now_ns - get(stolen_since_ns_) >= kStolenWithinNs) {
      set(stolen_since_ns_, now_ns);
      before = 0;
    }
    set(stolen_ns_, before + gap_ns);
    if (before + gap_ns >= kStolenNs) set(stolen_until_ns_, now_ns + kStolenHoldNs);
  }

  Time shares_until_ns_{0};
  Time hold_ns_{kCompetitorNs};
  Time keeps_until_ns_{0};
  Time no_yield_ns_{kNoYieldNs};
  Time stolen_since_ns_{0};
  Time stolen_ns_{0};
  Time stolen_until_ns_{0};
};

}  // namespace terrane::runtime::waiting
