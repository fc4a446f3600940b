// The home's side of pushed chunks: versions come from the one writer, and go to all subscribers.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool ChunkHome::subscribe(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  if (message.turn < 1 || message.turn > kMaxWindow) return false;
  Entry& entry = at->second;
  if (entry.kept.empty()) {  // this node has changed to the new coherence, and others have not
    if (entry.coherence_to_be() == Coherence::kInvalidate) return false;
    mark(Mark::kSubscribedEarly);
    for (const auto& [node, early] : entry.early)
      if (node == from) return false;
    entry.early.emplace_back(from, message);
    return true;
  }
  if (!Range{message.version, message.bytes}.fits(entry.bytes)) return false;
  for (const Entry::Subscriber& other : entry.subscribers)
    if (other.node == from) return false;
  Entry::Subscriber& subscriber = entry.subscribers.emplace_back();
  subscriber.node = from;
  subscriber.number = message.request;
  subscriber.block = flag(message, wire::kBlockFlag);
  subscriber.credit = message.turn;
  subscriber.range = {message.version, message.bytes};
  // Version 0 was never written.
  subscriber.next = std::max<std::uint64_t>(1, entry.version);
  subscriber.late = entry.version > 0;
  subscriber.waiting = subscriber.late ? 1 : 0;
  subscriber.changed = subscriber.late ? subscriber.range : Range{0, 0};
  if (subscriber.late) mark(Mark::kSubscribedLate);
  push(ChunkId{message.chunk}, entry, subscriber);
  return true;
}

bool ChunkHome::unsubscribe(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  std::erase_if(entry.subscribers, [&](const Entry::Subscriber& s) { return s.node == from; });
  std::erase_if(entry.early, [&](const auto& early) { return early.first == from; });
  forget_pushed(ChunkId{message.chunk}, entry);
  return true;
}

bool ChunkHome::publish(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  ChunkId id{message.chunk};
  bool fits = entry.room() > 0 || mutant(Mutant::kPublishWithoutCredit);
  if (entry.owner != from || entry.kept.empty() || !fits || message.version != entry.version + 1)
    return false;
  Range wrote{message.seen, message.bytes};
  if (!wrote.fits(entry.bytes)) return false;
  if (tail.size() != (from == outbox_.self() ? 0 : entry.bytes)) return false;
  Place place = free_place(id, entry);
  outbox_.provide(id, entry.bytes, place);
  outbox_.install(from, id, tail, place);
  entry.kept.push_back({message.version, place, wrote});
  entry.version = message.version;
  entry.writer = from;
  if (entry.coherence == Coherence::kOnce) entry.owner = kNoNode;
  for (Entry::Subscriber& subscriber : entry.subscribers) {
    if (wrote.touches(subscriber.range)) {
      ++subscriber.waiting;
      subscriber.changed = subscriber.changed.with(wrote);
    }
    push(id, entry, subscriber);
  }
  forget_pushed(id, entry);
  return true;
}

bool ChunkHome::credit(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  for (Entry::Subscriber& subscriber : entry.subscribers) {
    if (subscriber.node != from || subscriber.number != message.request) continue;
    if (message.turn > kMaxWindow) return false;
    subscriber.credit = std::min(subscriber.credit + message.turn, kMaxWindow);
    push(ChunkId{message.chunk}, entry, subscriber);
    forget_pushed(ChunkId{message.chunk}, entry);
    return true;
  }
  return true;  // the node has unsubscribed
}

// Sends the versions that the subscriber has room for: one after the other, or the newest.
void ChunkHome::push(ChunkId id, Entry& entry, Entry::Subscriber& subscriber) {
  if (subscriber.block) {
    push_all(id, entry, subscriber);
  } else {
    push_newest(id, entry, subscriber);
  }
}

void ChunkHome::push_all(ChunkId id, const Entry& entry, Entry::Subscriber& subscriber) {
  for (; subscriber.next <= entry.version; ++subscriber.next) {
    auto kept = std::find_if(entry.kept.begin(), entry.kept.end(), [&](const Entry::Kept& one) {
      return one.version == subscriber.next;
    });
    if (kept == entry.kept.end()) continue;
    bool concerns = kept->wrote.touches(subscriber.range);
    if (mutant(Mutant::kPartPassedOver))
      concerns = kept->wrote.with(subscriber.range) == kept->wrote;
    if (!subscriber.late && !concerns) {
      mark(Mark::kPushPassesOver);
      continue;
    }
    if (subscriber.credit == 0) {
      mark(Mark::kPushBlocks);
      if (mutant(Mutant::kBlockLeavesOut)) subscriber.next = entry.version + 1;
      if (!mutant(Mutant::kPushWithoutCredit)) return;
    }
    send_version(id, entry, *kept, subscriber, 0, subscriber.late ? subscriber.range : kept->wrote);
  }
}

void ChunkHome::push_newest(ChunkId id, const Entry& entry, Entry::Subscriber& subscriber) {
  if (subscriber.waiting == 0) return;
  if (subscriber.credit == 0) {
    mark(Mark::kPushLeavesOut);
    if (mutant(Mutant::kForgetLastVersion)) subscriber.waiting = 0;
    if (!mutant(Mutant::kPushWithoutCredit)) return;
  }
  send_version(id, entry, entry.kept.back(), subscriber, subscriber.waiting - 1,
               subscriber.changed);
}

void ChunkHome::send_version(ChunkId id, const Entry& entry, const Entry::Kept& kept,
                             Entry::Subscriber& subscriber, std::uint32_t missed, Range changed) {
  ChunkMessage message{.kind = ChunkKind::kUpdate, .chunk = id.value, .version = kept.version};
  bool shared = std::any_of(
      entry.subscribers.begin(), entry.subscribers.end(), [&](const Entry::Subscriber& other) {
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

// Forgets the versions that all subscribers with kBlock were sent, and credits the writer with the
// room.
void ChunkHome::forget_pushed(ChunkId id, Entry& entry) {
  if (entry.kept.empty()) return;
  std::uint64_t needed = entry.version;
  for (const Entry::Subscriber& subscriber : entry.subscribers)
    if (subscriber.block && !mutant(Mutant::kForgetUnsent))
      needed = std::min(needed, subscriber.next);
  std::uint32_t before = entry.room();
  while (entry.kept.front().version < needed) {
    outbox_.discard(id, entry.kept.front().place);
    entry.kept.pop_front();
  }
  std::uint32_t more = entry.room() - before;
  if (more == 0 || entry.owner == kNoNode || mutant(Mutant::kCreditLost)) return;
  mark(Mark::kWriterCredited);
  ChunkMessage message{.kind = ChunkKind::kCredit, .chunk = id.value};
  message.turn = more;
  outbox_.send(entry.owner, message);
}

Place ChunkHome::free_place(ChunkId id, const Entry& entry) const {
  Place place{kHomePlaces};
  auto taken = [&] {
    return outbox_.leaving(id, place) ||
           std::any_of(entry.kept.begin(), entry.kept.end(),
                       [&](const Entry::Kept& kept) { return kept.place == place; });
  };
  while (taken()) ++place.value;
  return place;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
