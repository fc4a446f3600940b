#include "waiting/local_barrier.h"

#include "platform/wait.h"
#include "waiting/backoff.h"

namespace terrane::waiting {

void LocalBarrier::wait(std::uint32_t threads) {
  std::uint32_t round = round_.load(std::memory_order_acquire);
  if (came_.fetch_add(1) + 1 == threads) return end_round();
  if (is_gathering_.load()) platform::futex_wake_all(came_);
  while (round_.load(std::memory_order_acquire) == round) wait_while_equal(round_, round);
}

void LocalBarrier::gather(std::uint32_t threads) {
  is_gathering_.store(true);
  for (std::uint32_t came = came_.load(); came + 1 != threads; came = came_.load())
    wait_while_equal(came_, came);
  is_gathering_.store(false, std::memory_order_relaxed);
}

void LocalBarrier::release(std::uint32_t threads, std::span<const std::byte> told) {
  gather(threads);
  told_.assign(told.begin(), told.end());
  end_round();
}

void LocalBarrier::end_round() {
  came_.store(0, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  platform::futex_wake_all(round_);
}

}  // namespace terrane::waiting
