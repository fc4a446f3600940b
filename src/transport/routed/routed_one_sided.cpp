#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "runtime/waiting/backoff.h"
#include "transport/routed/routed_transport.h"

// One-sided calls as messages.

namespace terrane::transport::routed {
namespace {

// What is asked of one peer before a thread that asks for more must wait.
constexpr std::uint32_t kMostUnderWay = 1024;

base::Error is_gone(NodeId peer) {
  return base::error("one-sided: node {} cannot be reached any more", peer.value);
}

CallHeader of_word(CallKind kind, RemoteAddress word, const Atomic& atomic) {
  return {.kind = kind,
          .op = atomic.op,
          .word_bytes = atomic.bytes,
          .region = word.region,
          .offset = word.offset,
          .operand = atomic.operand,
          .expected = atomic.expected};
}

}  // namespace

// One thread takes in messages for all threads. Messages for a receiver are kept meanwhile, and
// sleeping threads are woken for them.
template <typename Done>
void RoutedTransport::wait_until(Done done) {
  runtime::waiting::Backoff backoff;
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

base::Result<> RoutedTransport::check_reach(NodeId peer, std::uint32_t region) const {
  if (regions_[peer.value][region].is_served != 0) return {};
  return base::error("one-sided: region {} of node {} cannot be reached from here", region,
                     peer.value);
}

base::Result<> RoutedTransport::check_wait() const {
  if (!is_taking()) return {};
  return base::error(
      "one-sided: a receiver must not wait: only the calls that end in nbi, and "
      "atomic_post, may be used there");
}

void RoutedTransport::send_call(NodeId peer, const CallHeader& header, Bytes data) {
  auto tag =
      static_cast<std::uint16_t>(header.kind == CallKind::kAnswer ? kAnswerTag : kRequestTag);
  end_->send(routing::Address::of_node(peer.value), tag, std::as_bytes(std::span(&header, 1)),
             data);
}

base::Result<> RoutedTransport::ask(NodeId peer, CallHeader header, WritableBytes into) {
  if (auto known = check_reach(peer, header.region); !known) return known;
  if (auto may = check_wait(); !may) return may;
  std::atomic<int> outcome{0};
  header.call = calls_.begin(peer, into, &outcome);
  if (header.call == 0) return is_gone(peer);
  send_call(peer, header, {});
  wait_until([&] { return outcome.load() != 0; });
  if (outcome.load() == 1) return {};
  return is_gone(peer);
}

base::Result<> RoutedTransport::ask_nbi(NodeId peer, CallHeader header, WritableBytes into) {
  if (auto known = check_reach(peer, header.region); !known) return known;
  header.call = calls_.begin(peer, into, nullptr);
  if (header.call == 0) return is_gone(peer);
  send_call(peer, header, {});
  if (calls_.under_way(peer) >= kMostUnderWay && !is_taking())
    wait_until([&] { return calls_.under_way(peer) < kMostUnderWay / 2; });
  return {};
}

base::Result<> RoutedTransport::post(NodeId peer, const CallHeader& header, Bytes data) {
  if (auto known = check_reach(peer, header.region); !known) return known;
  bool is_covered = header.kind != CallKind::kPutAndSet;  // by quiet()
  if (!calls_.note_unanswered(peer, is_covered)) return is_gone(peer);
  send_call(peer, header, data);
  // What was sent and is not taken yet is kept here: a caller that is faster than the network
  // waits.
  if (!is_taking() && end_->is_full(routing::Address::of_node(peer.value))) {
    wait_until([&] { return !end_->is_full(routing::Address::of_node(peer.value)); });
  }
  return {};
}

base::Result<> RoutedTransport::put(NodeId peer, RemoteAddress to, Bytes from) {
  return put_nbi(peer, to, from);  // the bytes are copied
}

base::Result<> RoutedTransport::put_nbi(NodeId peer, RemoteAddress to, Bytes from) {
  if (peer == self_) return Transport::put_nbi(peer, to, from);
  if (auto inside = check(peer, to, from.size()); !inside || from.empty()) return inside;
  return post(peer, {.kind = CallKind::kPut, .region = to.region, .offset = to.offset}, from);
}

base::Result<> RoutedTransport::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return ask(
      peer,
      {.kind = CallKind::kGet, .region = from.region, .offset = from.offset, .bytes = into.size()},
      into);
}

base::Result<> RoutedTransport::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (peer == self_) return Transport::get_nbi(peer, from, into);
  if (auto inside = check(peer, from, into.size()); !inside || into.empty()) return inside;
  return ask_nbi(
      peer,
      {.kind = CallKind::kGet, .region = from.region, .offset = from.offset, .bytes = into.size()},
      into);
}

base::Result<std::uint64_t> RoutedTransport::atomic_fetch(NodeId peer, RemoteAddress word,
                                                          const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_fetch(peer, word, atomic);
  if (auto inside = check(peer, word, atomic); !inside) return inside.error();
  std::uint64_t before = 0;
  auto into = std::as_writable_bytes(std::span(&before, 1)).first(atomic.bytes);
  auto fetched = ask(peer, of_word(CallKind::kFetch, word, atomic), into);
  if (!fetched) return fetched.error();
  return before;
}

base::Result<> RoutedTransport::atomic_fetch_nbi(NodeId peer, RemoteAddress word,
                                                 const Atomic& atomic, std::byte* into) {
  if (peer == self_) return Transport::atomic_fetch_nbi(peer, word, atomic, into);
  if (auto inside = check(peer, word, atomic); !inside) return inside;
  return ask_nbi(peer, of_word(CallKind::kFetch, word, atomic), {into, atomic.bytes});
}

base::Result<> RoutedTransport::atomic_post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (peer == self_) return Transport::atomic_post(peer, word, atomic);
  if (auto inside = check_post(peer, word, atomic); !inside) return inside;
  return post(peer, of_word(CallKind::kPost, word, atomic), {});
}

base::Result<> RoutedTransport::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                            RemoteAddress word, std::uint64_t value) {
  if (peer == self_) return Transport::put_and_set(peer, to, from, word, value);
  if (auto inside = check(peer, to, from.size()); !inside) return inside;
  if (auto inside = check(peer, word, Atomic{}); !inside) return inside;
  if (auto known = check_reach(peer, word.region); !known) return known;
  return post(peer,
              {.kind = CallKind::kPutAndSet,
               .word_region = word.region,
               .region = to.region,
               .offset = to.offset,
               .operand = value,
               .expected = word.offset},
              from);
}

base::Result<> RoutedTransport::quiet(NodeId peer) {
  TERRANE_CHECK(peer.value < regions_.size(), "quiet is toward a node of the job");
  if (auto done = Transport::quiet(peer); !done || peer == self_) return done;
  return flush(peer.value, peer.value + 1);
}

base::Result<> RoutedTransport::quiet() {
  if (auto done = Transport::quiet(); !done) return done;
  return flush(0, static_cast<std::uint32_t>(regions_.size()));
}

// Toward all of them at the same time. The error is the first peer's.
base::Result<> RoutedTransport::flush(std::uint32_t first, std::uint32_t end) {
  if (auto may = check_wait(); !may) return may;
  std::vector<NodeId> asked;
  base::Result<> all;
  for (std::uint32_t node = first; node < end; ++node) {
    NodeId peer{node};
    if (peer == self_) continue;
    if (!calls_.is_flushed(peer)) {
      calls_.note_flush(peer);
      CallHeader header{.kind = CallKind::kFlush};
      header.call = calls_.begin(peer, {}, nullptr);
      if (header.call == 0) {
        if (all) all = is_gone(peer);
        continue;
      }
      send_call(peer, header, {});
    }
    asked.push_back(peer);
  }
  for (NodeId peer : asked) {
    wait_until([&] { return calls_.under_way(peer) == 0; });
    if (calls_.take_failure(peer) && all) all = is_gone(peer);
  }
  return all;
}

// By the thread that takes in.
void RoutedTransport::serve(NodeId from, Bytes request) {
  CallHeader header;
  if (request.size() < sizeof header) return;
  std::memcpy(&header, request.data(), sizeof header);
  CallHeader answer{.kind = CallKind::kAnswer, .call = header.call};
  answer_.clear();
  bool good = perform(header, request.subspan(sizeof header), answer_);
  answer.failed = good ? 0 : 1;
  if (header.call != 0) send_call(from, answer, answer_);
}

// What comes from another machine is checked here again.
bool RoutedTransport::perform(const CallHeader& header, Bytes data, std::vector<std::byte>& read) {
  RemoteAddress at{header.region, header.offset};
  Atomic atomic{header.op, header.word_bytes, header.operand, header.expected};
  if (header.kind == CallKind::kFlush) return true;
  bool known = header.region < regions_[self_.value].size() &&
               regions_[self_.value][header.region].is_served != 0 &&
               header.op <= AtomicOp::kCompareSwap;
  if (!known) return false;
  switch (header.kind) {
    case CallKind::kPut:
      return static_cast<bool>(Transport::put(self_, at, data));
    case CallKind::kPutAndSet: {
      RemoteAddress word{header.word_region, header.expected};
      bool is_served = header.word_region < regions_[self_.value].size() &&
                       regions_[self_.value][header.word_region].is_served != 0;
      return is_served && Transport::put_and_set(self_, at, data, word, header.operand).ok();
    }
    case CallKind::kGet:
      if (!check(self_, at, header.bytes)) return false;
      read.resize(header.bytes);
      return static_cast<bool>(Transport::get(self_, at, read));
    case CallKind::kFetch: {
      auto before = Transport::atomic_fetch(self_, at, atomic);
      if (!before) return false;
      read.resize(atomic.bytes);
      std::memcpy(read.data(), &before.value(), atomic.bytes);
      return true;
    }
    case CallKind::kPost:
      return static_cast<bool>(Transport::atomic_post(self_, at, atomic));
    default:
      return false;
  }
}

}  // namespace terrane::transport::routed
