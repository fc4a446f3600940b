#include "protocol/sc/machine.h"

#include <cstring>

#include "base/check.h"
#include "protocol/sc/sc_instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

// The caller holds the block's lock, so the page is not here yet with this access.
void Machine::ask(const ScAsk& event) {
  auto [at, fresh] = asked_.try_emplace(event.block.value);
  if (fresh) {
    mark(Mark::kFaultAsks);
    at->second.home = event.home;
    at->second.access = event.access;
    if (event.home == config_.self) {
      requested(config_.self, event.block.value, event.access);
    } else {
      send(event.home, {.kind = wire::Kind::kScRequest,
                        .access = static_cast<std::uint8_t>(event.access),
                        .block = event.block.value});
    }
  } else if (!at->second.granted) {
    mark(Mark::kFaultJoinsRequest);
  }
  Asked& asked = at->second;
  bool here = asked.granted && !asked.installing;
  if (here) asked.installing = true;
  outbox_.resume_plain(event.waiter, here ? install_answer(asked, event.block.value) : 0);
}

// The waiter of a synchronisation page acquires before it shows the page. If its node has written
// the page last, there is nothing to acquire. If it knows all notices that the last writer knew, it
// need not ask for them; but leases die, since homes write without notices.
std::uint64_t Machine::install_answer(const Asked& asked, std::uint64_t block) const {
  auto access = static_cast<std::uint64_t>(asked.access);
  if (!synchronises(block) || protocol::mutant(protocol::Mutant::kInstallWithoutAcquire))
    return access;
  if (asked.writer == config_.self || asked.writer == kNoNode) {
    protocol::mark(protocol::Mark::kInstallOwn);
    return access;
  }
  bool knows = true;
  for (std::size_t n = 0; n < asked.stamp.size(); ++n)
    knows = knows && timestamp_[n] >= asked.stamp[n];
  protocol::mark(knows ? protocol::Mark::kInstallKnowsAll : protocol::Mark::kInstallAcquires);
  NodeId from = knows ? config_.self : asked.writer;
  return access | kAcquires | std::uint64_t{from.value} << 32;
}

void Machine::await(const ScAwait& event) {
  auto at = asked_.find(event.block.value);
  if (at == asked_.end() || (at->second.granted && !at->second.installing)) {
    outbox_.resume_plain(event.waiter, 0);
  } else {
    at->second.waiters.push_back(event.waiter);
  }
}

bool Machine::granted(NodeId home, std::uint64_t block, Access access, NodeId writer, Bytes stamp,
                      Bytes bytes) {
  auto at = asked_.find(block);
  if (at == asked_.end() || at->second.home != home || at->second.granted ||
      at->second.access != access) {
    return false;
  }
  if (!bytes.empty()) {
    mark(Mark::kInstallCarried);
    outbox_.place(BlockId{block}, bytes);
  }
  at->second.granted = true;
  at->second.writer = writer;
  at->second.stamp.resize(stamp.size() / sizeof(std::uint32_t));
  if (!stamp.empty()) std::memcpy(at->second.stamp.data(), stamp.data(), stamp.size());
  for (WaiterId waiter : at->second.waiters) outbox_.resume_plain(waiter, 0);
  at->second.waiters.clear();
  return true;
}

// A granted page is recalled only after it is installed. The installing thread waits for nobody,
// and no node changes the bytes that it copies.
bool Machine::recalled(NodeId home, std::uint64_t block, bool keeps_copy) {
  auto at = asked_.find(block);
  if (at == asked_.end() || !at->second.granted || mutant(Mutant::kInstallAnyTime)) {
    outbox_.recall({BlockId{block}, home, keeps_copy, synchronises(block)});
    return true;
  }
  if (at->second.recalled || at->second.home != home) return false;
  mark(Mark::kRecallWaitsForInstall);
  at->second.recalled = !mutant(Mutant::kForgetRecall);
  at->second.keeps_copy = keeps_copy;
  return true;
}

void Machine::installed(const ScInstalled& event) {
  auto at = asked_.find(event.block.value);
  TERRANE_CHECK(at != asked_.end() && at->second.installing, "what is installed was granted");
  const Asked& asked = at->second;
  if (asked.recalled)
    outbox_.recall({event.block, asked.home, asked.keeps_copy, synchronises(event.block.value)});
  for (WaiterId waiter : asked.waiters) outbox_.resume_plain(waiter, 0);
  asked_.erase(at);
}

// A page that this node has asked for will be used soon. Its grant may be on the way, without bytes
// if the node has the page.
void Machine::may_give_back(const ScGiveBack& event) {
  bool asked = asked_.contains(event.block.value);
  if (asked) mark(Mark::kGiveBackFindsAsked);
  outbox_.resume_plain(event.waiter, !asked || mutant(Mutant::kGiveBackAsked));
}

void Machine::yielded(const ScYielded& event) {
  wire::ScMessage message{.kind = event.asked ? wire::Kind::kScYielded : wire::Kind::kScReturned,
                          .access = event.keeps_copy,
                          .wrote = event.wrote,
                          .block = event.block.value};
  // A page that goes unasked carries no order (PagesConfig::sequential).
  bool stamps = event.asked && event.wrote && synchronises(event.block.value);
  if (stamps) message.writer = config_.self.value + 1;
  if (event.home == config_.self) {
    Bytes stamp = stamps ? std::as_bytes(std::span(timestamp_)) : Bytes{};
    event.asked ? gave_back(config_.self, message, stamp, {}) : returned(config_.self, message, {});
    return;
  }
  message.carries = event.wrote && !reaches(event.home) && !mutant(Mutant::kYieldWithoutBytes);
  if (message.carries) mark(Mark::kYieldWrittenByMessage);
  send(event.home, message, stamps ? &timestamp_ : nullptr);
}

// If the message carries the page, the host appends its bytes.
void Machine::send(NodeId to, wire::ScMessage message, const Stamp* stamp) {
  auto& out = outbox_.begin();
  wire::put(out, message);
  if (stamp != nullptr) put_bytes(out, std::as_bytes(std::span(*stamp)));
  outbox_.send_with(to, {message.block, message.carries});
}

// Takes the timestamp that a message about a synchronisation page may begin its tail with.
bool Machine::take_stamp(const wire::ScMessage& head, Bytes& tail, Bytes& stamp) const {
  if (head.writer == 0) return true;
  std::size_t bytes = config_.nodes * sizeof(std::uint32_t);
  bool may = head.kind == wire::Kind::kScGrant || head.kind == wire::Kind::kScYielded ||
             head.kind == wire::Kind::kScReady;
  if (!may || !synchronises(head.block) || head.writer > config_.nodes || tail.size() < bytes)
    return false;
  stamp = tail.first(bytes);
  tail = tail.subspan(bytes);
  return true;
}

bool Machine::received(NodeId from, Bytes message, NodeId home) {
  wire::ScMessage head;
  Bytes stamp;
  if (!wire::take(message, head) || !serves(head.block) || head.carries > 1 || head.wrote > 1 ||
      head.access > 2 || !take_stamp(head, message, stamp) ||
      message.empty() != (head.carries == 0)) {
    return false;
  }
  bool from_home = home == kNoNode || home == from;
  switch (head.kind) {
    case wire::Kind::kScRequest:
      return (home == kNoNode || home == config_.self) && head.access != 0 && !head.carries &&
             requested(from, head.block, static_cast<Access>(head.access));
    case wire::Kind::kScYielded:
      return head.access <= 1 && gave_back(from, head, stamp, message);
    case wire::Kind::kScReady:
      return home == config_.self && !stamp.empty() && !head.carries &&
             began(from, head.block, stamp);
    case wire::Kind::kScReturned:
      return head.access == 0 && head.carries <= head.wrote && returned(from, head, message);
    case wire::Kind::kScGrant:
      return head.access != 0 && granted(from, head.block, static_cast<Access>(head.access),
                                         NodeId{head.writer - 1}, stamp, message);
    default:
      return from_home && head.access <= 1 && !head.carries &&
             recalled(from, head.block, head.access != 0);
  }
}

void Machine::check_invariants() const {
  for (const auto& [block, page] : pages_) {
    TERRANE_CHECK(
        page.writer == kNoNode || (page.readers.empty() && !page.many) || !page.awaited.empty(),
        "one writer, or many readers");
    TERRANE_CHECK(page.recalled == !page.awaited.empty(), "a recall waits for somebody");
    TERRANE_CHECK(page.recalled || !page.begun || page.queue.empty(), "nobody waits for nothing");
    TERRANE_CHECK(page.readers.size() <= config_.named_readers || synchronises(block),
                  "few readers are named");
  }
  for (const auto& [block, asked] : asked_)
    TERRANE_CHECK(!asked.granted || asked.installing || asked.waiters.empty(),
                  "a thread that waits for a grant is told");
}

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
