#include "transport/self/self_transport.h"

#include <mutex>

#include "base/check.h"
#include "platform/wait.h"

namespace terrane::transport::self {

void SelfTransport::send(NodeId to, Bytes head, Bytes tail) {
  TERRANE_CHECK(to.value == 0, "a job of one has node 0 alone");
  Gather message(head, tail);
  {
    std::lock_guard lock(lock_);
    incoming_.push(message.left(), message);
    queued_.fetch_add(1);
  }
  // Cleared by the one that wakes: while nobody sleeps, a message costs no system call.
  if (attending_.load() == 0 && sleeping_.load() != 0 && sleeping_.exchange(0) != 0) wake();
}

std::size_t SelfTransport::poll(Receiver& receiver) {
  if (!delivering_.try_lock()) return 0;
  std::lock_guard delivering(delivering_, std::adopt_lock);
  {
    std::lock_guard lock(lock_);
    incoming_.swap(delivered_);  // the receiver may send while we deliver
  }
  std::size_t messages = 0;
  for (; !delivered_.empty(); ++messages) {
    receiver.received(NodeId{0}, delivered_.front().rest);
    delivered_.pop();
    queued_.fetch_sub(1);
  }
  return messages;
}

void SelfTransport::sleep(std::uint64_t timeout_ns) {
  std::uint32_t seen = bell_.load();
  sleeping_.store(1);
  if (interrupts_.take() || pending() || timeout_ns == 0) return;
  platform::futex_wait(bell_, seen, timeout_ns);
  interrupts_.take();
}

void SelfTransport::interrupt() {
  interrupts_.interrupt();
  wake();
}

void SelfTransport::wake() noexcept {
  bell_.fetch_add(1);
  platform::futex_wake_all(bell_);
}

}  // namespace terrane::transport::self
