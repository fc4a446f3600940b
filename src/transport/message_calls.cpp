#include "transport/message_calls.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"

namespace terrane::transport {
namespace {

// What is asked of one peer before a thread that asks for more must wait.
constexpr std::uint32_t kMostUnderWay = 1024;
// The same where the answers are long: the peer keeps what the network does not take at once.
constexpr std::uint32_t kMostPiecesUnderWay = 64;

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

base::Result<> MessageCalls::check_reach(NodeId peer, std::uint32_t region) const {
  if (carrier_.is_served(peer, region)) return {};
  return base::error("one-sided: region {} of node {} cannot be reached from here", region,
                     peer.value);
}

base::Result<> MessageCalls::check_wait() const {
  if (!carrier_.is_in_receiver()) return {};
  return base::error(
      "one-sided: a receiver must not wait: only the calls that end in nbi, and "
      "atomic_post, may be used there");
}

base::Result<> MessageCalls::wait(NodeId peer, Calls::Outcome& outcome) {
  auto done = [&] { return outcome.left.load() == 0; };
  carrier_.wait_until(std::ref(done));
  if (outcome.failed.load()) return is_gone(peer);
  return {};
}

base::Result<> MessageCalls::ask(NodeId peer, CallHeader header, WritableBytes into,
                                 Calls::Outcome* outcome) {
  header.call = calls_.begin(peer, into, outcome);
  if (header.call == 0) return is_gone(peer);
  carrier_.send_call(peer, header, {});
  std::uint32_t most = header.kind == CallKind::kGet ? kMostPiecesUnderWay : kMostUnderWay;
  if (calls_.under_way(peer) >= most && !carrier_.is_in_receiver()) {
    auto done = [&] { return calls_.under_way(peer) < most / 2; };
    carrier_.wait_until(std::ref(done));
  }
  return {};
}

base::Result<> MessageCalls::ask_for_pieces(NodeId peer, RemoteAddress from, WritableBytes into,
                                            Calls::Outcome* outcome) {
  if (auto known = check_reach(peer, from.region); !known) return known;
  while (!into.empty()) {
    std::size_t bytes = std::min(into.size(), piece_);
    CallHeader header{
        .kind = CallKind::kGet, .region = from.region, .offset = from.offset, .bytes = bytes};
    if (auto asked = ask(peer, header, into.first(bytes), outcome); !asked) return asked;
    from.offset += bytes;
    into = into.subspan(bytes);
  }
  return {};
}

base::Result<> MessageCalls::send_unanswered(NodeId peer, const CallHeader& header, Bytes data) {
  bool is_covered = header.kind != CallKind::kPutAndSet;  // by a flush
  if (!calls_.note_unanswered(peer, is_covered)) return is_gone(peer);
  carrier_.send_call(peer, header, data);
  // What was sent and is not taken yet is kept here: a caller that is faster than the network
  // waits.
  if (!carrier_.is_in_receiver() && carrier_.is_full(peer)) {
    auto done = [&] { return !carrier_.is_full(peer); };
    carrier_.wait_until(std::ref(done));
  }
  return {};
}

base::Result<> MessageCalls::put(NodeId peer, RemoteAddress to, Bytes from) {
  if (auto known = check_reach(peer, to.region); !known) return known;
  while (!from.empty()) {
    std::size_t bytes = std::min(from.size(), piece_);
    CallHeader header{.kind = CallKind::kPut, .region = to.region, .offset = to.offset};
    if (auto sent = send_unanswered(peer, header, from.first(bytes)); !sent) return sent;
    to.offset += bytes;
    from = from.subspan(bytes);
  }
  return {};
}

base::Result<> MessageCalls::get(NodeId peer, RemoteAddress from, WritableBytes into) {
  if (auto may = check_wait(); !may) return may;
  Calls::Outcome outcome;
  auto asked = ask_for_pieces(peer, from, into, &outcome);
  auto done = wait(peer, outcome);  // also for pieces that were asked for before an error
  return asked ? done : asked;
}

base::Result<> MessageCalls::get_nbi(NodeId peer, RemoteAddress from, WritableBytes into) {
  return ask_for_pieces(peer, from, into, nullptr);
}

base::Result<std::uint64_t> MessageCalls::fetch(NodeId peer, RemoteAddress word,
                                                const Atomic& atomic) {
  if (auto known = check_reach(peer, word.region); !known) return known.error();
  if (auto may = check_wait(); !may) return may.error();
  std::uint64_t before = 0;
  Calls::Outcome outcome;
  auto into = std::as_writable_bytes(std::span(&before, 1)).first(atomic.bytes);
  auto asked = ask(peer, of_word(CallKind::kFetch, word, atomic), into, &outcome);
  if (!asked) return asked.error();
  if (auto done = wait(peer, outcome); !done) return done.error();
  return before;
}

base::Result<> MessageCalls::fetch_nbi(NodeId peer, RemoteAddress word, const Atomic& atomic,
                                       std::byte* into) {
  if (auto known = check_reach(peer, word.region); !known) return known;
  return ask(peer, of_word(CallKind::kFetch, word, atomic), {into, atomic.bytes}, nullptr);
}

base::Result<> MessageCalls::post(NodeId peer, RemoteAddress word, const Atomic& atomic) {
  if (auto known = check_reach(peer, word.region); !known) return known;
  return send_unanswered(peer, of_word(CallKind::kPost, word, atomic), {});
}

base::Result<> MessageCalls::put_and_set(NodeId peer, RemoteAddress to, Bytes from,
                                         RemoteAddress word, std::uint64_t value) {
  if (auto known = check_reach(peer, to.region); !known) return known;
  if (auto known = check_reach(peer, word.region); !known) return known;
  std::size_t before = from.size() <= piece_ ? 0 : from.size() - piece_;
  if (auto sent = put(peer, to, from.first(before)); !sent) return sent;
  return send_unanswered(peer,
                         {.kind = CallKind::kPutAndSet,
                          .word_region = word.region,
                          .region = to.region,
                          .offset = to.offset + before,
                          .operand = value,
                          .expected = word.offset},
                         from.subspan(before));
}

// Toward all of them at the same time. The error is the first peer's.
base::Result<> MessageCalls::flush(std::uint32_t first, std::uint32_t end) {
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
      carrier_.send_call(peer, header, {});
    }
    asked.push_back(peer);
  }
  for (NodeId peer : asked) {
    auto done = [&] { return calls_.under_way(peer) == 0; };
    if (!done()) carrier_.wait_until(std::ref(done));
    if (calls_.take_failure(peer) && all) all = is_gone(peer);
  }
  return all;
}

bool MessageCalls::is_answer(Bytes call) {
  CallHeader header;
  if (call.size() < sizeof header) return false;
  std::memcpy(&header, call.data(), sizeof header);
  return header.kind == CallKind::kAnswer;
}

bool MessageCalls::take_answer(NodeId from, Bytes answer) {
  CallHeader header;
  if (answer.size() < sizeof header) return false;
  std::memcpy(&header, answer.data(), sizeof header);
  return calls_.answer(from, header, answer.subspan(sizeof header));
}

void MessageCalls::serve(NodeId from, Bytes request) {
  CallHeader header;
  if (request.size() < sizeof header) return;
  std::memcpy(&header, request.data(), sizeof header);
  CallHeader answer{.kind = CallKind::kAnswer, .call = header.call};
  std::uint64_t word = 0;
  Bytes read;
  bool good = perform(header, request.subspan(sizeof header), word, read);
  answer.failed = good ? 0 : 1;
  if (header.call != 0) carrier_.send_call(from, answer, good ? read : Bytes{});
}

// What comes from another machine is checked here again. `read`: what the answer holds; `word` has
// it where it is one word.
bool MessageCalls::perform(const CallHeader& header, Bytes data, std::uint64_t& word, Bytes& read) {
  RemoteAddress at{header.region, header.offset};
  Atomic atomic{header.op, header.word_bytes, header.operand, header.expected};
  if (header.kind == CallKind::kFlush) return true;
  if (!carrier_.is_served(self_, header.region) || header.op > AtomicOp::kCompareSwap) return false;
  switch (header.kind) {
    case CallKind::kPut:
      return memory_.put(self_, at, data).ok();
    case CallKind::kPutAndSet:
      return carrier_.is_served(self_, header.word_region) &&
             memory_
                 .put_and_set(self_, at, data, {header.word_region, header.expected},
                              header.operand)
                 .ok();
    case CallKind::kGet: {
      std::uint64_t size = memory_.region_bytes(self_, at.region);
      const std::byte* region = memory_.reach(self_, at.region);
      if (region == nullptr || at.offset > size || header.bytes > size - at.offset) return false;
      read = {region + at.offset, header.bytes};
      return true;
    }
    case CallKind::kFetch: {
      auto before = memory_.atomic_fetch(self_, at, atomic);
      if (!before) return false;
      word = before.value();
      read = std::as_bytes(std::span(&word, 1)).first(atomic.bytes);
      return true;
    }
    case CallKind::kPost:
      return memory_.atomic_post(self_, at, atomic).ok();
    default:
      return false;
  }
}

}  // namespace terrane::transport
