#include <sched.h>

#include <algorithm>

#include "platform/wait.h"
#include "transport/delay/delayed_transport.h"

// One-sided calls with latency: an answer takes two ways. Puts arrive sooner than they would; what
// tells of their arrival, quiet() and later messages, does not.

namespace terrane::transport::delay {

void DelayedTransport::wait_for_answer(NodeId peer, std::uint64_t asked_ns) const {
  if (peer.value >= delayed_.size() || !delayed_[peer.value] || asked_ns == 0) return;
  while (platform::now_ns() - asked_ns < 2 * latency_ns_) ::sched_yield();
}

void DelayedTransport::note_started(NodeId peer) {
  if (peer.value < started_ns_.size()) started_ns_[peer.value].store(platform::now_ns());
}

std::uint64_t DelayedTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  return inner_->region_bytes(peer, region);
}

base::Result<> DelayedTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  note_started(peer);
  return inner_->put(peer, to, from);
}

base::Result<> DelayedTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  note_started(peer);
  return inner_->put_nbi(peer, to, from);
}

base::Result<> DelayedTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  std::uint64_t asked_ns = platform::now_ns();
  auto got = inner_->get(peer, from, into);
  wait_for_answer(peer, asked_ns);
  return got;
}

base::Result<> DelayedTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  note_started(peer);
  return inner_->get_nbi(peer, from, into);
}

base::Result<std::uint64_t> DelayedTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                           const Atomic& atomic) {
  std::uint64_t asked_ns = platform::now_ns();
  auto before = inner_->atomic_fetch(peer, word, atomic);
  wait_for_answer(peer, asked_ns);
  return before;
}

base::Result<> DelayedTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word,
                                                  const Atomic& atomic, std::byte* into) {
  note_started(peer);
  return inner_->atomic_fetch_nbi(peer, word, atomic, into);
}

base::Result<> DelayedTransport::atomic_post(NodeId peer, RemoteAddress word,
                                             const Atomic& atomic) {
  note_started(peer);
  return inner_->atomic_post(peer, word, atomic);
}

base::Result<> DelayedTransport::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                             RemoteAddress word, std::uint64_t value) {
  note_started(peer);
  return inner_->put_and_set(peer, to, from, word, value);
}

base::Result<> DelayedTransport::fence() { return inner_->fence(); }

base::Result<> DelayedTransport::quiet(NodeId peer) {
  auto done = inner_->quiet(peer);
  if (peer.value < started_ns_.size()) wait_for_answer(peer, started_ns_[peer.value].load());
  return done;
}

base::Result<> DelayedTransport::quiet() {
  auto done = inner_->quiet();
  for (std::uint32_t node = 0; node < started_ns_.size(); ++node) {
    wait_for_answer(NodeId{node}, started_ns_[node].load());
  }
  return done;
}

}  // namespace terrane::transport::delay
