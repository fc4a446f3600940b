#include "protocol/core/expiry.h"

#include <algorithm>

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

bool valid_ranges(Bytes ranges, std::uint64_t blocks) {
  BlockRange range;
  if (ranges.empty()) return false;
  while (!ranges.empty()) {
    if (!wire::take(ranges, range) || range.count == 0 || range.first >= blocks ||
        range.count > blocks - range.first) {
      return false;
    }
  }
  return true;
}

}  // namespace

Expiry::Expiry(NodeId self, const Clusters& clusters, std::uint32_t arity, Outbox& outbox)
    : self_(self), clusters_(clusters), arity_(arity), outbox_(outbox) {}

std::vector<NodeId> Expiry::children(NodeId origin) const {
  std::vector<NodeId> children;
  clusters_.add_children(self_, origin, arity_, children);
  TERRANE_CHECK(children.size() < 32, "the children of a node are bits of a word");
  if (mutant(Mutant::kExpiryForgetsChild) && children.size() > 1) children.pop_back();
  return children;
}

void Expiry::pass_on(const std::vector<NodeId>& children, Bytes message) {
  for (NodeId child : children) {
    put_bytes(outbox_.begin(), message);
    outbox_.send(child);
  }
}

void Expiry::begin(const ExpireCopies& event) {
  std::vector<NodeId> told = children(self_);
  auto below = static_cast<std::uint32_t>(told.size());
  if (below == 0) {
    outbox_.resume_plain(event.waiter, 0);
    return;
  }
  bool fresh =
      rounds_.try_emplace({self_.value, event.waiter.value}, Round{below, (1u << below) - 1})
          .second;
  TERRANE_CHECK(fresh, "a thread releases once at a time");
  std::vector<std::byte> message;
  wire::put(message,
            wire::Expire{
                .origin = self_.value, .waiter = event.waiter.value, .home = event.home.value + 1});
  for (const BlockRange& range : *event.ranges) wire::put(message, range);
  pass_on(told, message);
}

bool Expiry::received(NodeId from, Bytes message, std::uint64_t blocks) {
  if (static_cast<wire::Kind>(message[0]) == wire::Kind::kExpire)
    return received_expire(from, message, blocks);
  return received_expired(from, message);
}

bool Expiry::received_expire(NodeId from, Bytes message, std::uint64_t blocks) {
  wire::Expire head;
  Bytes ranges = message;
  if (!wire::take(ranges, head) || head.origin >= clusters_.nodes() || head.origin == self_.value ||
      from != parent(NodeId{head.origin}) || !valid_ranges(ranges, blocks) ||
      head.home > clusters_.nodes() || (head.home != 0 && ranges.size() != sizeof(BlockRange))) {
    return false;
  }
  NodeId origin{head.origin};
  std::vector<NodeId> told = children(origin);
  auto below = static_cast<std::uint32_t>(told.size());
  auto [round, fresh] =
      rounds_.try_emplace({head.origin, head.waiter}, Round{below + 1, (1u << below) - 1});
  if (!fresh) return false;
  if (below > 0) mark(Mark::kExpiryPassedOn);
  pass_on(told, message);
  put_bytes(outbox_.begin(), ranges);
  outbox_.expire(origin, WaiterId{head.waiter}, NodeId{head.home - 1});
  if (mutant(Mutant::kExpiryAnsweredEarly)) count(round);
  return true;
}

void Expiry::expired(NodeId origin, WaiterId waiter) {
  if (mutant(Mutant::kExpiryAnsweredEarly)) return;
  auto round = rounds_.find({origin.value, waiter.value});
  TERRANE_CHECK(round != rounds_.end(), "copies expire because somebody told so");
  count(round);
}

bool Expiry::received_expired(NodeId from, Bytes message) {
  wire::Expired head;
  if (!wire::take(message, head) || !message.empty()) return false;
  auto round = rounds_.find({head.origin, head.waiter});
  if (round == rounds_.end()) return false;
  NodeId origin{head.origin};
  std::vector<NodeId> told = children(origin);
  auto at = std::find(told.begin(), told.end(), from) - told.begin();
  if (from == self_ || !(round->second.children >> at & 1)) return false;
  round->second.children &= ~(1u << at);
  count(round);
  return true;
}

// One more part of the round is done; after the last one this node answers.
void Expiry::count(std::map<Key, Round>::iterator round) {
  if (--round->second.awaited > 0) return;
  auto [origin, waiter] = round->first;
  rounds_.erase(round);
  if (origin == self_.value) {
    outbox_.resume_plain(WaiterId{waiter}, 0);
    return;
  }
  wire::put(outbox_.begin(), wire::Expired{.origin = origin, .waiter = waiter});
  outbox_.send(parent(NodeId{origin}));
}

void Expiry::check_invariants() const {
  for (const auto& [key, round] : rounds_)
    TERRANE_CHECK(round.awaited > 0 && key.first < clusters_.nodes(), "a round waits for somebody");
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
