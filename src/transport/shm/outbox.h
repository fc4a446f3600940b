#pragma once

#include <cstdint>
#include <deque>

#include "transport/message_queue.h"
#include "transport/shm/node_bits.h"
#include "transport/shm/ring_writer.h"
#include "transport/spin_lock.h"

namespace terrane::transport::shm {

// All ways out of a node: per destination a ring, and a backlog of what did not fit, in order. Owns
// the backlogs. Thread-safe; senders to different destinations do not wait for each other.
class Outbox {
 public:
  explicit Outbox(std::uint32_t nodes) : nodes_(nodes) {}

  // The next destination's: our ring in its area.
  void add(RingView ring, Doorbell receiver, NodeId self);

  void send(NodeId to, Bytes head, Bytes tail, Ring ring = Ring::kNow);
  void ring(NodeId to, Sleepers whom);
  // Moves the backlogs on as far as there is space.
  void advance();
  // Whether advance() would find space.
  bool can_advance() const;
  bool has_backlog() const { return backlogged_.any(nodes_); }
  // Asks the receivers that hold us up to wake us when they have taken something out.
  void want_space();
  // The destination is gone: drops its backlog and all that is sent to it later.
  void drop(NodeId to);

 private:
  struct alignas(kLine) Destination {
    Destination(RingView ring, Doorbell receiver, NodeId self) : writer(ring, receiver, self) {}

    SpinLock lock;
    bool lost = false;
    RingWriter writer;
    MessageQueue backlog;
  };

  static void advance_locked(Destination& destination);

  std::uint32_t nodes_;
  std::deque<Destination> destinations_;
  NodeBits backlogged_{};  // changed under the destination's lock
};

}  // namespace terrane::transport::shm
