#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "transport/message_queue.h"
#include "transport/spin_lock.h"
#include "transport/transport.h"

namespace terrane::transport {

// Messages of a node to itself, in order. push() may be called by any thread, deliver() by the
// delivering thread.
class SelfQueue {
 public:
  void push(Gather message) {
    std::lock_guard hold(lock_);
    sent_.push(message.left(), message);
    queued_.fetch_add(1);
  }
  bool empty() const { return queued_.load() == 0; }
  // Gives all that is there now to the receiver, which may push more; returns how many.
  std::size_t deliver(NodeId self, Receiver& receiver) {
    {
      std::lock_guard hold(lock_);
      sent_.swap(delivered_);
    }
    std::size_t messages = 0;
    for (; !delivered_.empty(); ++messages) {
      receiver.received(self, delivered_.front().rest);
      delivered_.pop();
      queued_.fetch_sub(1);
    }
    return messages;
  }

 private:
  SpinLock lock_;  // guards sent_
  MessageQueue sent_;
  MessageQueue delivered_;
  std::atomic<std::uint64_t> queued_{0};
};

}  // namespace terrane::transport
