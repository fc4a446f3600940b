#include "transport/shm/outbox.h"

#include <mutex>

#include "base/check.h"

namespace terrane::transport::shm {

void Outbox::add(RingView ring, Doorbell receiver, NodeId self) {
  destinations_.emplace_back(ring, receiver, self);
}

void Outbox::send(NodeId to, Bytes head, Bytes tail, Ring ring) {
  TERRANE_CHECK(to.value < nodes_, "a message goes to a node of the job");
  Destination& destination = destinations_[to.value];
  Gather message(head, tail);
  std::uint64_t total_bytes = message.left();
  std::lock_guard lock(destination.lock);
  if (destination.lost) return;
  if (!destination.backlog.empty()) advance_locked(destination);
  if (!destination.backlog.empty() || !destination.writer.write(message, total_bytes, ring)) {
    destination.backlog.push(total_bytes, message);
    backlogged_.set(to);
  }
  // A backlog that send() emptied keeps its bit until the next advance(), which finds nothing to
  // do.
}

void Outbox::ring(NodeId to, Sleepers whom) {
  Destination& destination = destinations_[to.value];
  std::lock_guard lock(destination.lock);
  destination.writer.ring(whom);
}

void Outbox::advance_locked(Destination& destination) {
  while (!destination.backlog.empty()) {
    auto [total_bytes, bytes] = destination.backlog.front();
    Gather rest(bytes, {});
    bool all = destination.writer.write(rest, total_bytes);
    destination.backlog.take(bytes.size() - rest.left());
    if (!all) return;
    destination.backlog.pop();
  }
}

void Outbox::advance() {
  backlogged_.for_each(nodes_, [this](NodeId to) {
    Destination& destination = destinations_[to.value];
    std::lock_guard lock(destination.lock);
    advance_locked(destination);
    if (destination.backlog.empty()) backlogged_.clear(to);
  });
}

bool Outbox::can_advance() const {
  bool can = false;
  backlogged_.for_each(
      nodes_, [&](NodeId to) { can = can || destinations_[to.value].writer.space_freed(); });
  return can;
}

void Outbox::want_space() {
  backlogged_.for_each(nodes_, [this](NodeId to) { destinations_[to.value].writer.want_space(); });
}

void Outbox::drop(NodeId to) {
  Destination& destination = destinations_[to.value];
  std::lock_guard lock(destination.lock);
  destination.lost = true;
  destination.backlog.clear();
  backlogged_.clear(to);
}

}  // namespace terrane::transport::shm
