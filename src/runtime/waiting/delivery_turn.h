#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::runtime::waiting {

// Lets one thread at a time deliver. Who finds a message while another delivers leaves it to that
// one, which looks again before it goes, and may sleep: where both share a processor the deliverer
// could not go on beside one that looks again and again, for as long as the kernel lets that one
// have it.
class DeliveryTurn {
 public:
  bool try_begin() {
    std::uint32_t free = kFree;
    return state_.load(std::memory_order_relaxed) == kFree &&
           state_.compare_exchange_strong(free, kTaken);
  }
  // By who delivers. False: it still does, since something was left to it.
  bool end() {
    std::uint32_t taken = kTaken;
    if (state_.compare_exchange_strong(taken, kFree)) return true;
    state_.store(kTaken);
    return false;
  }
  // Whether a thread delivers, which is then going to look once more.
  bool leave_to_deliverer() {
    std::uint32_t taken = kTaken;
    return state_.compare_exchange_strong(taken, kLookAgain) || taken == kLookAgain;
  }

 private:
  enum State : std::uint32_t { kFree, kTaken, kLookAgain };
  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace terrane::runtime::waiting
