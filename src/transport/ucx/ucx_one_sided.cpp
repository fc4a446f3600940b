#include <poll.h>

#include <vector>

#include "base/check.h"
#include "transport/ucx/ucx_transport.h"
#include "waiting/backoff.h"

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
  return base::error("one-sided: node {} cannot be reached any more ({}; UCX {})", peer.value,
                     worker_->text_of(status), worker_->version());
}

// Over sockets all calls are messages, and atomics always are: the target's processor performs
// them.
bool UcxTransport::by_ucx(NodeId peer, std::uint32_t region) const {
  return !sockets_alone_ && memory_.has_key(peer, region);
}

void UcxTransport::send_call(NodeId to, const CallHeader& header, Bytes data) {
  outbox_.send(to, std::as_bytes(std::span(&header, 1)), data, Traffic::kCalls);
}

void UcxTransport::CallReceiver::received(NodeId from, Bytes call) {
  bool good = call.size() >= sizeof(CallHeader);
  if (good && !MessageCalls::is_answer(call)) return transport_.calls_.serve(from, call);
  if (!good || !transport_.calls_.take_answer(from, call)) transport_.calls_in_.refuse(from);
}

// What was asked of peers that are gone fails, though no receiver has heard of it yet.
void UcxTransport::lose_failed() {
  for (std::uint32_t node = 0; node < lost_.size(); ++node) {
    NodeId peer{node};
    if (node != self_.value && !outbox_.is_open(peer) && !calls_.is_lost(peer)) calls_.lose(peer);
  }
}

// What has come for a receiver, or tells of a loss, is left to the sleeping threads.
bool UcxTransport::has_news() const {
  return inbox_.has_deliverable() || inbox_.has_broken() || calls_in_.has_broken() ||
         outbox_.has_failures();
}

// Until `done` holds; it is asked by the thread that is inside. What UCX receives meanwhile wakes
// no sleeper, unless there is something for a receiver: then they have the descriptors back.
void UcxTransport::wait_until(const std::function<bool()>& done) {
  waiting::Backoff backoff;
  bool attends = true;
  bool news = false;
  sleepers_room_->attend(*this);
  for (bool over = false; !over;) {
    bool had_news = news;
    if (worker_->try_enter()) {
      if (progress()) backoff = {};
      if (outbox_.has_failures()) lose_failed();
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
  auto done = [&] {
    if (!outbox_.is_open(peer)) outbox_.close(peer);
    status = worker_->api().request_check_status(request);
    if (status == UCS_INPROGRESS) return false;
    worker_->api().request_free(request);
    return true;
  };
  wait_until(std::ref(done));
  return describe(peer, status);
}

template <typename Start>
base::Result<> UcxTransport::perform(NodeId peer, Start start) {
  if (worker_->inside()) return must_not_wait();
  worker_->enter();
  ucs_status_ptr_t request = start();
  outbox_.leave_worker();
  return finish(peer, request);
}

template <typename Start>
base::Result<> UcxTransport::begin(NodeId peer, Start start) {
  bool within = worker_->inside();
  if (!within) worker_->enter();
  ucs_status_ptr_t begun = start();
  ucs_status_t status = UCS_PTR_STATUS(begun);
  bool full = memory_.under_way(peer) >= kMostUnderWay;
  if (within) return describe(peer, status);
  outbox_.leave_worker();
  if (full) {
    auto done = [&] {
      if (!outbox_.is_open(peer)) outbox_.close(peer);
      return memory_.under_way(peer) < kMostUnderWay / 2;
    };
    wait_until(std::ref(done));
  }
  return describe(peer, status);
}

std::uint64_t UcxTransport::region_bytes(NodeId peer, std::uint32_t region) const {
  return memory_.bytes(peer, region);
}

base::Result<> UcxTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  if (!by_ucx(peer, to.region)) return calls_.put(peer, to, from);
  return perform(peer, [&] { return memory_.put(peer, to, from, Waits::kCaller); });
}

base::Result<> UcxTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put_nbi(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  if (!by_ucx(peer, to.region)) return calls_.put(peer, to, from);
  return begin(peer, [&] { return memory_.put(peer, to, from, Waits::kNobody); });
}

base::Result<> UcxTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  if (!by_ucx(peer, from.region)) return calls_.get(peer, from, into);
  return perform(peer, [&] { return memory_.get(peer, from, into, Waits::kCaller); });
}

base::Result<> UcxTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get_nbi(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  if (!by_ucx(peer, from.region)) return calls_.get_nbi(peer, from, into);
  return begin(peer, [&] { return memory_.get(peer, from, into, Waits::kNobody); });
}

base::Result<std::uint64_t> UcxTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                       const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_fetch(peer, word, atomic);
  if (auto inside = check(peer, word, atomic); !inside) return inside.error();
  return calls_.fetch(peer, word, atomic);
}

base::Result<> UcxTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                              std::byte* into) {
  if (peer == self_) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  if (auto inside = check(peer, word, atomic); !inside) return inside;
  return calls_.fetch_nbi(peer, word, atomic, into);
}

base::Result<> UcxTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_post(peer, word, atomic);
  if (auto inside = check_post(peer, word, atomic); !inside) return inside;
  return calls_.post(peer, word, atomic);
}

base::Result<> UcxTransport::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                         RemoteAddress word, std::uint64_t value) {
  if (peer == self_ || by_ucx(peer, to.region) || by_ucx(peer, word.region))
    return Transport::put_and_set(peer, to, from, word, value);
  if (auto inside = check(peer, to, from.size()); !inside) return inside;
  if (auto inside = check(peer, word, Atomic{}); !inside) return inside;
  return calls_.put_and_set(peer, to, from, word, value);
}

// Messages arrive in order. An RDMA network has ways of its own for puts, which messages do not
// take.
base::Result<> UcxTransport::fence() { return sockets_alone_ ? Transport::fence() : quiet(); }

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
  if (sockets_alone_) return calls_.flush(first, end);
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
  auto calls = calls_.flush(first, end);
  return all ? calls : all;
}

}  // namespace terrane::transport::ucx
