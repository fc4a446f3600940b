#pragma once

#include <atomic>
#include <cstdint>

namespace terrane::waiting {

// Lets one thread at a time deliver messages. A thread that finds a message while another thread
// delivers leaves the message to the deliverer, and may sleep; the deliverer looks once more before
// it ends. If the two share a processor and the second one kept polling, the deliverer could not
// run until the kernel took the processor from the second one.
class DeliveryTurn {
 public:
  bool try_begin() {
    std::uint32_t free = kFree;
    return state_.load(std::memory_order_relaxed) == kFree &&
           state_.compare_exchange_strong(free, kTaken);
  }
  // Called by the deliverer. False: its turn goes on, because another thread has left it something.
  bool end() {
    std::uint32_t taken = kTaken;
    if (state_.compare_exchange_strong(taken, kFree)) return true;
    state_.store(kTaken);
    return false;
  }
  // True: a thread delivers, and will look once more. False: none does.
  bool leave_to_deliverer() {
    std::uint32_t taken = kTaken;
    return state_.compare_exchange_strong(taken, kLookAgain) || taken == kLookAgain;
  }

 private:
  enum State : std::uint32_t { kFree, kTaken, kLookAgain };
  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace terrane::waiting
