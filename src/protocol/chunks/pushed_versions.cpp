#include "protocol/chunks/pushed_versions.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool PushedVersions::subscribe(NodeId from, const ChunkMessage& message) {
  Range range{message.version, message.bytes};
  if (!range.fits(bytes_)) return false;
  for (const Subscriber& other : subscribers_)
    if (other.node == from) return false;
  ChunkMessage answer{.kind = ChunkKind::kSubscribed, .chunk = id_.value};
  answer.request = message.request;
  outbox_.send(from, answer);
  bool late = newest() > 0;  // version 0 was never written
  if (late) mark(Mark::kSubscribedLate);
  push(subscribers_.emplace_back(Subscriber{.node = from,
                                            .number = message.request,
                                            .block = flag(message, wire::kBlockFlag),
                                            .credit = message.turn,
                                            .range = range,
                                            .next = std::max<std::uint64_t>(1, newest()),
                                            .waiting = late ? 1u : 0u,
                                            .changed = late ? range : Range{0, 0},
                                            .late = late}));
  return true;
}

bool PushedVersions::unsubscribe(NodeId node) {
  return std::erase_if(subscribers_, [&](const Subscriber& s) { return s.node == node; }) > 0;
}

bool PushedVersions::publish(NodeId from, const ChunkMessage& message, Bytes tail) {
  Range wrote{message.seen, message.bytes};
  if (message.version != newest() + 1 || !wrote.fits(bytes_) ||
      tail.size() != (from == outbox_.self() ? 0 : bytes_))
    return false;
  Place place = free_place();
  outbox_.provide(id_, bytes_, place);
  outbox_.install(from, id_, tail, place);
  kept_.push_back({message.version, place, wrote});
  for (Subscriber& subscriber : subscribers_) {
    if (wrote.touches(subscriber.range)) {
      ++subscriber.waiting;
      subscriber.changed = subscriber.changed.with(wrote);
    }
    push(subscriber);
  }
  return true;
}

bool PushedVersions::credit(NodeId from, const ChunkMessage& message) {
  for (Subscriber& subscriber : subscribers_) {
    if (subscriber.node != from || subscriber.number != message.request) continue;
    if (message.turn > kMaxWindow) return false;
    subscriber.credit = std::min(subscriber.credit + message.turn, kMaxWindow);
    push(subscriber);
    return true;
  }
  return true;  // the node has unsubscribed
}

// Sends the versions that the subscriber has room for: one after the other, or the newest.
void PushedVersions::push(Subscriber& subscriber) {
  if (subscriber.block) {
    push_all(subscriber);
  } else {
    push_newest(subscriber);
  }
}

void PushedVersions::push_all(Subscriber& subscriber) {
  for (; subscriber.next <= newest(); ++subscriber.next) {
    auto kept = std::find_if(kept_.begin(), kept_.end(),
                             [&](const Kept& one) { return one.version == subscriber.next; });
    if (kept == kept_.end()) continue;
    bool concerns = kept->wrote.touches(subscriber.range);
    if (mutant(Mutant::kPartPassedOver))
      concerns = kept->wrote.with(subscriber.range) == kept->wrote;
    if (!subscriber.late && !concerns) {
      mark(Mark::kPushPassesOver);
      continue;
    }
    if (subscriber.credit == 0) {
      mark(Mark::kPushBlocks);
      if (mutant(Mutant::kBlockLeavesOut)) subscriber.next = newest() + 1;
      if (!mutant(Mutant::kPushWithoutCredit)) return;
    }
    send(*kept, subscriber, 0, subscriber.late ? subscriber.range : kept->wrote);
  }
}

void PushedVersions::push_newest(Subscriber& subscriber) {
  if (subscriber.waiting == 0) return;
  if (subscriber.credit == 0) {
    mark(Mark::kPushLeavesOut);
    if (mutant(Mutant::kForgetLastVersion)) subscriber.waiting = 0;
    if (!mutant(Mutant::kPushWithoutCredit)) return;
  }
  send(kept_.back(), subscriber, subscriber.waiting - 1, subscriber.changed);
}

void PushedVersions::send(const Kept& kept, Subscriber& subscriber, std::uint32_t missed,
                          Range changed) {
  ChunkMessage message{.kind = ChunkKind::kUpdate, .chunk = id_.value, .version = kept.version};
  bool shared = std::any_of(subscribers_.begin(), subscribers_.end(), [&](const Subscriber& other) {
    return other.node != subscriber.node && outbox_.share_link(other.node, subscriber.node);
  });
  if (shared) message.flags = wire::kSharedFlag;
  message.request = subscriber.number;
  message.turn = missed;
  message.seen = changed.offset;
  message.bytes = changed.bytes;
  outbox_.send_data(subscriber.node, message, kept.place);
  subscriber.late = false;
  subscriber.waiting = 0;
  subscriber.changed = {0, 0};
  if (subscriber.credit > 0) --subscriber.credit;
}

void PushedVersions::forget_sent() {
  std::uint64_t needed = newest();
  for (const Subscriber& subscriber : subscribers_)
    if (subscriber.block && !mutant(Mutant::kForgetUnsent))
      needed = std::min(needed, subscriber.next);
  while (kept_.front().version < needed) {
    outbox_.discard(id_, kept_.front().place);
    kept_.pop_front();
  }
}

void PushedVersions::discard_all() const {
  for (const Kept& kept : kept_) outbox_.discard(id_, kept.place);
}

Place PushedVersions::free_place() const {
  Place place{kHomePlaces};
  auto taken = [&] {
    return outbox_.leaving(id_, place) ||
           std::any_of(kept_.begin(), kept_.end(),
                       [&](const Kept& kept) { return kept.place == place; });
  };
  while (taken()) ++place.value;
  return place;
}

void PushedVersions::check_invariants() const {
  TERRANE_CHECK(kept_.size() <= kMostKept, "a home keeps no more versions than it may");
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
