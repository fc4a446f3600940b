#include <poll.h>

#include <vector>

#include "base/check.h"
#include "runtime/waiting/backoff.h"
#include "transport/ucx/ucx_transport.h"

namespace terrane::transport::ucx {
namespace {

using Waits = RemoteMemory::Waits;

// What UCX is given toward one peer before a thread that gives it more must wait.
constexpr std::uint32_t kMostUnderWay = 1024;
// Between two looks of a thread that waits long: another may have finished what it waits for.
constexpr int kNap_ms = 1;

base::Error must_not_wait() {
  return base::error(
      "one-sided: a receiver must not wait: only the calls that end in nbi, and "
      "atomic_post, may be used there");
}

}  // namespace

base::Result<> UcxTransport::describe(NodeId peer, ucs_status_t status) const {
  if (status == UCS_OK) return {};
  return base::error("one-sided: node {} cannot be reached any more ({})", peer.value,
                     worker_->text_of(status));
}

base::Result<> UcxTransport::check_key(NodeId peer, std::uint32_t region) const {
  if (memory_.has_key(peer, region)) return {};
  return base::error("one-sided: region {} of node {} cannot be reached from here", region,
                     peer.value);
}

// What has come for a receiver, or tells of a loss, is left to the sleeping threads.
bool UcxTransport::has_news() const {
  return inbox_.has_deliverable() || inbox_.has_broken() || outbox_.has_failures();
}

// Until `done` holds; it is asked by the thread that is inside. What UCX receives meanwhile wakes
// no sleeper, unless there is something for a receiver: then they have the descriptors back.
template <typename Done>
void UcxTransport::wait_until(Done done) {
  runtime::waiting::Backoff backoff;
  bool attends = true;
  bool news = false;
  sleepers_room_->attend(*this);
  for (bool over = false; !over;) {
    bool had_news = news;
    if (worker_->try_enter()) {
      if (progress()) backoff = {};
      over = done();
      news = has_news();
      outbox_.leave_worker();
    }
    bool ring = news && !had_news;
    if (attends && (over || news)) {
      attends = false;
      ring = sleepers_room_->unattend(*this) || ring;
    }
    if (ring) sleepers_room_->ring();
    if (!over && !backoff.pause()) nap();
  }
}

void UcxTransport::nap() {
  if (!worker_->try_enter()) return;
  bool armed = worker_->arm();
  outbox_.leave_worker();
  pollfd watched{.fd = worker_->event_fd(), .events = POLLIN, .revents = 0};
  if (armed) ::poll(&watched, 1, kNap_ms);
}

// UCX ends the requests toward a peer that is gone once its endpoint is closed.
base::Result<> UcxTransport::finish(NodeId peer, ucs_status_ptr_t request) {
  if (!UCS_PTR_IS_PTR(request)) return describe(peer, UCS_PTR_STATUS(request));
  ucs_status_t status = UCS_OK;
  wait_until([&] {
    if (!outbox_.is_open(peer)) outbox_.close(peer);
    status = worker_->api().request_check_status(request);
    if (status == UCS_INPROGRESS) return false;
    worker_->api().request_free(request);
    return true;
  });
  return describe(peer, status);
}

template <typename Start>
base::Result<> UcxTransport::perform(NodeId peer, std::uint32_t region, Start start) {
  if (auto known = check_key(peer, region); !known) return known;
  if (worker_->inside()) return must_not_wait();
  worker_->enter();
  ucs_status_ptr_t request = start();
  outbox_.leave_worker();
  return finish(peer, request);
}

template <typename Start>
base::Result<> UcxTransport::begin(NodeId peer, std::uint32_t region, Start start) {
  if (auto known = check_key(peer, region); !known) return known;
  bool within = worker_->inside();
  if (!within) worker_->enter();
  ucs_status_ptr_t begun = start();
  ucs_status_t status = UCS_PTR_STATUS(begun);
  bool full = memory_.under_way(peer) >= kMostUnderWay;
  if (within) return describe(peer, status);
  outbox_.leave_worker();
  if (full) {
    wait_until([&] {
      if (!outbox_.is_open(peer)) outbox_.close(peer);
      return memory_.under_way(peer) < kMostUnderWay / 2;
    });
  }
  return describe(peer, status);
}

std::uint64_t UcxTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  return memory_.bytes(peer, region);
}

base::Result<> UcxTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  return perform(peer, to.region, [&] { return memory_.put(peer, to, from, Waits::kCaller); });
}

base::Result<> UcxTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put_nbi(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  return begin(peer, to.region, [&] { return memory_.put(peer, to, from, Waits::kNobody); });
}

base::Result<> UcxTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return perform(peer, from.region, [&] { return memory_.get(peer, from, into, Waits::kCaller); });
}

base::Result<> UcxTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get_nbi(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return begin(peer, from.region, [&] { return memory_.get(peer, from, into, Waits::kNobody); });
}

base::Result<std::uint64_t> UcxTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                       const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_fetch(peer, word, atomic);
  if (auto inside = check(peer, word, atomic); !inside) return inside.error();
  std::uint64_t before = 0;
  auto fetched = perform(peer, word.region, [&] {
    return memory_.fetch(peer, word, atomic, &before, Waits::kCaller);
  });
  if (!fetched) return fetched.error();
  return before;
}

base::Result<> UcxTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                              std::byte* into) {
  if (peer == self_) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  if (auto inside = check(peer, word, atomic); !inside) return inside;
  return begin(peer, word.region,
               [&] { return memory_.fetch(peer, word, atomic, into, Waits::kNobody); });
}

base::Result<> UcxTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_post(peer, word, atomic);
  if (auto inside = check_post(peer, word, atomic); !inside) return inside;
  return begin(peer, word.region, [&] { return memory_.post(peer, word, atomic); });
}

// Over sockets all goes one way, in order. An RDMA network has ways of its own for puts, which the
// atomics do not take.
base::Result<> UcxTransport::fence() {
  if (!sockets_alone_) return quiet();
  if (auto fenced = Transport::fence(); !fenced) return fenced;
  bool within = worker_->inside();
  if (!within) worker_->enter();
  memory_.fence();
  if (!within) outbox_.leave_worker();
  return {};
}

base::Result<> UcxTransport::quiet(NodeId peer) {
  TERRANE_CHECK(peer.value < lost_.size(), "quiet is toward a node of the job");
  if (auto done = Transport::quiet(peer); !done || peer == self_) return done;
  return flush(peer.value, peer.value + 1);
}

base::Result<> UcxTransport::quiet() {
  if (auto done = Transport::quiet(); !done) return done;
  return flush(0, static_cast<std::uint32_t>(lost_.size()));
}

// All of them at the same time. The error is the first peer's.
base::Result<> UcxTransport::flush(std::uint32_t first, std::uint32_t end) {
  struct Flush {
    NodeId peer;
    std::uint64_t started;
    ucs_status_ptr_t request;
  };
  if (worker_->inside()) return must_not_wait();
  std::vector<Flush> flushes;
  worker_->enter();
  for (std::uint32_t node = first; node < end; ++node) {
    NodeId peer{node};
    if (memory_.is_flushed(peer)) continue;
    flushes.push_back({peer, memory_.started(peer), memory_.flush(peer)});
    if (flushes.back().request == nullptr) memory_.flushed(peer, flushes.back().started);
  }
  outbox_.leave_worker();
  base::Result<> all;
  for (const Flush& one : flushes) {
    auto done = finish(one.peer, one.request);
    if (!done && all) all = done;
    if (!done || one.request == nullptr) continue;
    worker_->enter();
    memory_.flushed(one.peer, one.started);
    outbox_.leave_worker();
  }
  return all;
}

}  // namespace terrane::transport::ucx
