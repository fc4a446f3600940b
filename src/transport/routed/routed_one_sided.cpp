#include <mutex>

#include "base/check.h"
#include "transport/routed/routed_transport.h"
#include "waiting/backoff.h"

// One-sided calls as messages.

namespace terrane::transport::routed {

// One thread takes in messages for all threads. Messages for a receiver are kept meanwhile, and
// sleeping threads are woken for them.
void RoutedTransport::wait_until(const std::function<bool()>& done) {
  waiting::Backoff backoff;
  while (!done()) {
    if (taking_.try_lock()) {
      std::lock_guard taking(taking_, std::adopt_lock);
      std::size_t before = kept_count_.load();
      std::uint64_t moved = moves();
      take_in(nullptr);
      if (kept_count_.load() != before) sleepers_room_->ring();
      if (moves() != moved) backoff = {};
    }
    if (!done() && !backoff.pause()) nap();
  }
}

std::byte* RoutedTransport::reach(NodeId peer, std::uint32_t region) {
  return peer == self_ ? own_regions_->reach(NodeId{0}, region) : nullptr;
}

std::uint64_t RoutedTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  if (peer.value >= regions_.size() || region >= regions_[peer.value].size()) return 0;
  return regions_[peer.value][region].bytes;
}

bool RoutedTransport::is_served(NodeId node, std::uint32_t region) const {
  return node.value < regions_.size() && region < regions_[node.value].size() &&
         regions_[node.value][region].is_served != 0;
}

bool RoutedTransport::is_full(NodeId peer) const {
  return end_->is_full(routing::Address::of_node(peer.value));
}

void RoutedTransport::send_call(NodeId to, const CallHeader& header, Bytes data) {
  auto tag =
      static_cast<std::uint16_t>(header.kind == CallKind::kAnswer ? kAnswerTag : kRequestTag);
  end_->send(routing::Address::of_node(to.value), tag, std::as_bytes(std::span(&header, 1)), data);
}

base::Result<> RoutedTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  return put_nbi(peer, to, from);  // the bytes are copied
}

base::Result<> RoutedTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put_nbi(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  return calls_.put(peer, to, from);
}

base::Result<> RoutedTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return calls_.get(peer, from, into);
}

base::Result<> RoutedTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get_nbi(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return calls_.get_nbi(peer, from, into);
}

base::Result<std::uint64_t> RoutedTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                          const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_fetch(peer, word, atomic);
  if (auto inside = check(peer, word, atomic); !inside) return inside.error();
  return calls_.fetch(peer, word, atomic);
}

base::Result<> RoutedTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word,
                                                 const Atomic& atomic, std::byte* into) {
  if (peer == self_) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  if (auto inside = check(peer, word, atomic); !inside) return inside;
  return calls_.fetch_nbi(peer, word, atomic, into);
}

base::Result<> RoutedTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_post(peer, word, atomic);
  if (auto inside = check_post(peer, word, atomic); !inside) return inside;
  return calls_.post(peer, word, atomic);
}

base::Result<> RoutedTransport::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                            RemoteAddress word, std::uint64_t value) {
  if (peer == self_) return Transport::put_and_set(peer, to, from, word, value);
  if (auto inside = check(peer, to, from.size()); !inside) return inside;
  if (auto inside = check(peer, word, Atomic{}); !inside) return inside;
  return calls_.put_and_set(peer, to, from, word, value);
}

base::Result<> RoutedTransport::quiet(NodeId peer) {
  TERRANE_CHECK(peer.value < regions_.size(), "quiet is toward a node of the job");
  if (auto done = Transport::quiet(peer); !done || peer == self_) return done;
  return calls_.flush(peer.value, peer.value + 1);
}

base::Result<> RoutedTransport::quiet() {
  if (auto done = Transport::quiet(); !done) return done;
  return calls_.flush(0, static_cast<std::uint32_t>(regions_.size()));
}

}  // namespace terrane::transport::routed
