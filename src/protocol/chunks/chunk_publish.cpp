// A home's part for pushed chunks: versions come from the one who may write, and go to all who
// subscribed.
#include <algorithm>

#include "protocol/chunks/chunk_home.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

bool ChunkHome::subscribe(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end() || at->second.kept.empty()) return false;
  if (message.turn < 1 || message.turn > kMaxWindow) return false;
  Entry& entry = at->second;
  for (const Entry::Subscriber& other : entry.subscribers)
    if (other.node == from) return false;
  Entry::Subscriber& subscriber = entry.subscribers.emplace_back();
  subscriber.node = from;
  subscriber.number = message.request;
  subscriber.block = flag(message, wire::kBlockFlag);
  subscriber.credit = message.turn;
  // What it has seen is not sent again; nothing was written before version 1.
  subscriber.next = std::max<std::uint64_t>({1, entry.version, message.seen + 1});
  if (subscriber.next <= entry.version) mark(Mark::kSubscribedLate);
  push(ChunkId{message.chunk}, entry, subscriber);
  return true;
}

bool ChunkHome::unsubscribe(NodeId from, const ChunkMessage& message) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  std::erase_if(entry.subscribers, [&](const Entry::Subscriber& s) { return s.node == from; });
  forget_pushed(ChunkId{message.chunk}, entry);
  return true;
}

bool ChunkHome::publish(NodeId from, const ChunkMessage& message, Bytes tail) {
  auto at = entries_.find(message.chunk);
  if (at == entries_.end()) return false;
  Entry& entry = at->second;
  ChunkId id{message.chunk};
  bool fits = entry.kept.size() < depth(entry) || mutant(Mutant::kPublishWithoutCredit);
  if (entry.owner != from || entry.kept.empty() || !fits || message.version != entry.version + 1)
    return false;
  if (tail.size() != (from == outbox_.self() ? 0 : entry.bytes)) return false;
  Place place = free_place(id, entry);
  outbox_.provide(id, entry.bytes, place);
  outbox_.install(from, id, tail, place);
  entry.kept.push_back({message.version, place});
  entry.version = message.version;
  for (Entry::Subscriber& subscriber : entry.subscribers) push(id, entry, subscriber);
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
  return true;  // it has unsubscribed
}

// What the subscriber has room for: one after the other, or the newest.
void ChunkHome::push(ChunkId id, Entry& entry, Entry::Subscriber& subscriber) {
  if (subscriber.credit == 0 && subscriber.next <= entry.version)
    mark(subscriber.block ? Mark::kPushBlocks : Mark::kPushLeavesOut);
  if (subscriber.credit == 0 && !subscriber.block && mutant(Mutant::kForgetLastVersion))
    subscriber.next = entry.version + 1;
  if (subscriber.credit == 0 && subscriber.block && mutant(Mutant::kBlockLeavesOut))
    subscriber.next = entry.version + 1;
  while ((subscriber.credit > 0 || mutant(Mutant::kPushWithoutCredit)) &&
         subscriber.next <= entry.version) {
    if (!subscriber.block) subscriber.next = entry.version;
    for (const Entry::Kept& kept : entry.kept) {
      if (kept.version != subscriber.next) continue;
      ChunkMessage message{.kind = ChunkKind::kUpdate, .chunk = id.value, .version = kept.version};
      message.request = subscriber.number;
      message.bytes = entry.bytes;
      outbox_.send_data(subscriber.node, message, kept.place);
    }
    ++subscriber.next;
    if (subscriber.credit > 0) --subscriber.credit;
  }
}

// Versions that everybody who must have them has been sent make room for others.
void ChunkHome::forget_pushed(ChunkId id, Entry& entry) {
  if (entry.kept.empty()) return;
  std::uint64_t needed = entry.version;
  for (const Entry::Subscriber& subscriber : entry.subscribers)
    if (subscriber.block && !mutant(Mutant::kForgetUnsent))
      needed = std::min(needed, subscriber.next);
  std::uint32_t room = 0;
  while (entry.kept.front().version < needed) {
    outbox_.discard(id, entry.kept.front().place);
    entry.kept.pop_front();
    ++room;
  }
  if (room == 0 || entry.owner == kNoNode || mutant(Mutant::kCreditLost)) return;
  mark(Mark::kWriterCredited);
  ChunkMessage message{.kind = ChunkKind::kCredit, .chunk = id.value};
  message.turn = room;
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
