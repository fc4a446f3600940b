#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace terrane::platform {

// Whether other programs compete for the processors of the job, as the waits of this process find
// out by themselves. To offer one's processor (sched_yield) to a program that computes is to be
// without it until the next tick of the kernel's clock, 4 ms, however little that program is
// entitled to. Where the job's own threads fit the processors, who waits keeps its own at first; if
// it loses it, there is a rival, and it offers it for a while: one that waits as well gives it back
// at once, and both come along. If nobody takes it, it was the kernel, or another guest of the
// machine. One that keeps it is offered nothing any more for some time, ever longer. Who waits for
// long sleeps then, which costs its wake-up but not its turn. By any thread; guesses, which no
// thread relies on.
class Rivals {
 public:
  static constexpr std::uint64_t kLostNs = 200'000;  // between two looks: the processor was lost

  // The processor was lost between two looks, the latter of which is now.
  void lost(std::uint64_t now_ns) {
    if (!keeps(now_ns)) offers_until_ns_.store(now_ns + kOffersNs, std::memory_order_relaxed);
  }
  // Whether who waits offers its processor.
  bool offers(std::uint64_t now_ns) const {
    return now_ns < offers_until_ns_.load(std::memory_order_relaxed);
  }
  // It was offered, and is back now, after took_ns.
  void offered(std::uint64_t took_ns, std::uint64_t now_ns) {
    if (took_ns < kTakenNs) return;
    bool kept = took_ns >= kKeptNs;
    std::uint64_t ban_ns = ban_ns_.load(std::memory_order_relaxed);
    if (kept) keeps_until_ns_.store(now_ns + ban_ns, std::memory_order_relaxed);
    ban_ns_.store(kept ? std::min(2 * ban_ns, kLongestBanNs) : kShortestBanNs,
                  std::memory_order_relaxed);
    offers_until_ns_.store(kept ? 0 : now_ns + kOffersNs, std::memory_order_relaxed);
  }
  // Many offers on end were taken by nobody.
  void refused() { offers_until_ns_.store(0, std::memory_order_relaxed); }
  // Whether a rival keeps what it is offered, as far as is known.
  bool keeps(std::uint64_t now_ns) const {
    return now_ns < keeps_until_ns_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t kOffersNs = 100'000'000;
  static constexpr std::uint64_t kTakenNs = 20'000;
  static constexpr std::uint64_t kKeptNs = 3'000'000;
  static constexpr std::uint64_t kShortestBanNs = 50'000'000;
  static constexpr std::uint64_t kLongestBanNs = 1'000'000'000;

  std::atomic<std::uint64_t> offers_until_ns_{0};
  std::atomic<std::uint64_t> keeps_until_ns_{0};
  std::atomic<std::uint64_t> ban_ns_{kShortestBanNs};
};

}  // namespace terrane::platform
