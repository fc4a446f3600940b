#include "protocol/chunks/relays.h"

#include <algorithm>
#include <utility>

#include "protocol/chunks/chunk_instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

using wire::ChunkKind;
using wire::ChunkMessage;
using wire::RelayEntry;

ChunkMessage head_of(const Effects& effects, const Send& send) {
  ChunkMessage message;
  Bytes bytes = Bytes(effects.bytes).subspan(send.offset, send.size);
  wire::take(bytes, message);
  return message;
}

// Appends a message to the step's bytes.
Send message_to(NodeId to, const ChunkMessage& message, Bytes tail, Effects& effects) {
  std::size_t from = effects.bytes.size();
  wire::put(effects.bytes, message);
  effects.bytes.insert(effects.bytes.end(), tail.begin(), tail.end());
  return {to,
          static_cast<std::uint32_t>(from),
          static_cast<std::uint32_t>(effects.bytes.size() - from),
          ChunkId{message.chunk},
          Place{},
          false};
}

}  // namespace

NodeId Relays::relay_of(std::uint32_t cluster) const {
  NodeId first = kNoNode;
  for (std::uint32_t s = 0; s < view_.name_slots(); ++s) {  // the homes of node slots may leave
    NodeId server = view_.slots[s].home;
    if (clusters_->of(server) == cluster && (first == kNoNode || server.value < first.value))
      first = server;
  }
  return first;
}

bool Relays::goes_by_relay(const Send& send, const ChunkMessage& head) const {
  return head.kind == ChunkKind::kUpdate && send.with_data &&
         (head.flags & wire::kSharedFlag) != 0 && relay_of(clusters_->of(send.to)) != kNoNode;
}

void Relays::send(Effects& effects) {
  // The effect, if it is a message to another cluster; otherwise nullptr.
  auto to_far = [&](const Effect& effect) {
    const auto* one = std::get_if<Send>(&effect);
    return one != nullptr && is_far(one->to) ? one : nullptr;
  };
  if (std::none_of(effects.list.begin(), effects.list.end(), to_far)) return;
  std::vector<Group> groups;
  std::map<Key, std::size_t> group_of;
  std::vector<Effect> list;
  for (Effect& effect : effects.list) {
    const Send* one = to_far(effect);
    if (one == nullptr) {
      list.push_back(std::move(effect));
      continue;
    }
    ChunkMessage head = head_of(effects, *one);
    if (head.kind == ChunkKind::kRelayFull || head.kind == ChunkKind::kRelayEnd) {
      list.push_back(*one);  // for the relay, not for the machine: needs no order
      continue;
    }
    if (!goes_by_relay(*one, head)) {
      // A version that goes to the relay, too, must not come before this message to it.
      std::erase_if(group_of,
                    [&](const auto& group) { return relay_of(group.first.cluster) == one->to; });
      note_direct(one->to, effects, list);
      list.push_back(*one);
      continue;
    }
    Key key{head.chunk, head.version, clusters_->of(one->to)};
    auto [at, fresh] = group_of.try_emplace(key, groups.size());
    if (fresh) {
      groups.push_back({.key = key, .at = list.size(), .first = *one});
      list.push_back(*one);  // the message to the relay takes its place
    }
    Group& group = groups[at->second];
    RelayEntry entry{.node = one->to.value};
    Sent& sent = sent_[one->to.value];
    if (one->to != relay_of(key.cluster)) {
      entry.after = sent.direct;
      entry.number = ++sent.relayed;
    }
    wire::put(group.entries, entry);
    wire::put(group.entries, head);
    ++group.count;
  }
  for (const Group& group : groups) list[group.at] = to_relay(group, effects);
  effects.list = std::move(list);
}

// A message goes directly to the node. The mark before it says what was relayed earlier.
void Relays::note_direct(NodeId to, Effects& effects, std::vector<Effect>& list) {
  Sent& sent = sent_[to.value];
  if (sent.marked < sent.relayed) {
    ChunkMessage mark_before{.kind = ChunkKind::kRelayMark, .version = sent.relayed};
    list.push_back(message_to(to, mark_before, {}, effects));
    sent.marked = sent.relayed;
  }
  ++sent.direct;
}

// The one message to the relay for the whole group.
Send Relays::to_relay(const Group& group, Effects& effects) {
  const Key& key = group.key;
  std::deque<std::uint64_t>& there = at_relays_[{key.chunk, key.cluster}];
  bool with_data = std::find(there.begin(), there.end(), key.version) == there.end();
  ChunkMessage head = head_of(effects, group.first);
  head.kind = ChunkKind::kRelay;
  head.flags = with_data ? wire::kDataFlag : 0;
  head.turn = group.count;
  Send whole = message_to(relay_of(key.cluster), head, group.entries, effects);
  whole.place = group.first.place;
  whole.with_data = with_data;
  whole.data_bytes = group.first.data_bytes;
  mark(with_data ? Mark::kPushCrossesOnce : Mark::kPushIsAtRelay);
  if (!with_data) return whole;
  there.push_back(key.version);
  if (there.size() > kMostKept) there.pop_front();
  return whole;
}

bool Relays::received(NodeId from, Bytes message, Bytes data, Effects& effects,
                      const Handle& handle) {
  ChunkMessage head;
  Bytes rest = message;
  if (!concerns(from) || !wire::take(rest, head)) {
    handle(from, message, data);
    return true;
  }
  switch (head.kind) {
    case ChunkKind::kRelay:
      return data.empty() && relay(from, message, effects, handle);
    case ChunkKind::kRelayed:
      return data.empty() && relayed(from, message, handle);
    case ChunkKind::kRelayMark: {
      if (!is_far(from) || !rest.empty()) return false;
      Came& came = came_[from.value];
      came.marked = std::max(came.marked, head.version);
      return true;
    }
    case ChunkKind::kRelayFull:
      return rest.empty() && data.empty() && full(from, head, effects);
    case ChunkKind::kRelayEnd:
      return rest.empty() && data.empty() && end(from, head);
    default:
      if (!is_far(from)) {
        handle(from, message, data);
        return true;
      }
      direct(from, message, data, handle);
      return came_[from.value].early.size() < kMostWaiting;
  }
}

// This node is the relay of its cluster.
bool Relays::relay(NodeId from, Bytes message, Effects& effects, const Handle& handle) {
  constexpr std::size_t kEntry = sizeof(RelayEntry) + sizeof(ChunkMessage);
  ChunkMessage head;
  wire::take(message, head);
  std::size_t entries = head.turn;
  if (!is_far(from) || relay_of(clusters_->of(self_)) != self_ || entries > clusters_->nodes() ||
      message.size() < entries * kEntry)
    return false;
  Bytes data = message.subspan(entries * kEntry);
  const Kept* found = nullptr;
  if (auto kept = kept_.find(head.chunk); kept != kept_.end()) {
    if (kept->second.home != from) return false;
    for (const Kept& one : kept->second.versions)
      if (one.version == head.version) found = &one;
  }
  bool with_data = (head.flags & wire::kDataFlag) != 0;
  if (with_data != (found == nullptr) || (!with_data && !data.empty())) return false;
  if (with_data) {
    keep(from, head, data, effects);
  } else {
    data = found->bytes;
  }
  std::vector<ChunkMessage> own;
  for (std::size_t i = 0; i < entries; ++i) {
    RelayEntry entry;
    ChunkMessage push;
    wire::take(message, entry);
    wire::take(message, push);
    NodeId to{entry.node};
    if (push.kind != ChunkKind::kUpdate || to.value >= clusters_->nodes() ||
        !clusters_->together(self_, to))
      return false;
    if (to == self_) {
      own.push_back(push);
      continue;
    }
    if (mutant(Mutant::kRelayForgetsLast) && i + 1 == entries) continue;
    mark(Mark::kPushRelayed);
    ChunkMessage wrapped{.kind = ChunkKind::kRelayed, .epoch = head.epoch, .chunk = head.chunk};
    wrapped.version = entry.number;
    wrapped.seen = entry.after;
    wrapped.turn = from.value;
    std::vector<std::byte> inner;
    wire::put(inner, push);
    Send whole = message_to(to, wrapped, inner, effects);
    effects.list.push_back(Forward{to, whole.offset, whole.size, whole.chunk, data});
  }
  for (const ChunkMessage& push : own) {
    wire::put(spent_.emplace_back().message, push);
    handle(from, spent_.back().message, data);
  }
  return true;
}

void Relays::keep(NodeId from, const ChunkMessage& head, Bytes data, Effects& effects) {
  Keeping& keeping = kept_[head.chunk];
  keeping.home = from;
  keeping.used = ++uses_;
  if (keeping.versions.size() == kMostKept) drop_oldest(keeping);
  bool fits = data.size() <= most_bytes_ - kept_bytes_ && memory_.reserve(data.size());
  if (fits) kept_bytes_ += data.size();
  keeping.versions.push_back({head.version, {data.begin(), data.end()}, fits});
  if (!fits) make_room(data.size(), effects);
}

void Relays::drop_oldest(Keeping& keeping) {
  const Kept& oldest = keeping.versions.front();
  if (oldest.counted) {
    kept_bytes_ -= oldest.bytes.size();
    memory_.give_back(oldest.bytes.size());
  }
  keeping.versions.pop_front();
}

// Asks homes to forget the chunks that were pushed least recently. Until a home has answered it may
// rely on what is kept here, so bytes that do not fit are kept without being counted.
void Relays::make_room(std::uint64_t bytes, Effects& effects) {
  for (std::uint64_t room = 0; room < bytes;) {
    std::map<std::uint64_t, Keeping>::iterator least = kept_.end();
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      bool is_less = least == kept_.end() || at->second.used < least->second.used;
      if (!at->second.ends && is_less) least = at;
    }
    if (least == kept_.end()) return;
    mark(Mark::kRelayIsFull);
    auto& [chunk, keeping] = *least;
    keeping.ends = true;
    for (const Kept& one : keeping.versions) room += one.bytes.size();
    effects.list.push_back(message_to(
        keeping.home, ChunkMessage{.kind = ChunkKind::kRelayFull, .chunk = chunk}, {}, effects));
  }
}

// This node is the home.
bool Relays::full(NodeId from, const ChunkMessage& head, Effects& effects) {
  if (!is_far(from) || relay_of(clusters_->of(from)) != from) return false;
  auto there = at_relays_.find({head.chunk, clusters_->of(from)});
  if (there == at_relays_.end()) return false;
  if (!mutant(Mutant::kRelayEndsUnheard)) at_relays_.erase(there);
  effects.list.push_back(message_to(
      from, ChunkMessage{.kind = ChunkKind::kRelayEnd, .chunk = head.chunk}, {}, effects));
  return true;
}

bool Relays::end(NodeId from, const ChunkMessage& head) {
  auto found = kept_.find(head.chunk);
  if (found == kept_.end() || !found->second.ends || found->second.home != from) return false;
  mark(Mark::kRelayEnds);
  while (!found->second.versions.empty()) drop_oldest(found->second);
  kept_.erase(found);
  return true;
}

bool Relays::relayed(NodeId from, Bytes message, const Handle& handle) {
  ChunkMessage head;
  wire::take(message, head);
  NodeId maker{head.turn};
  bool sound = maker.value < clusters_->nodes() && is_far(maker) && !is_far(from) &&
               message.size() >= sizeof(ChunkMessage);
  if (!sound) return false;
  Came& came = came_[maker.value];
  if (head.version <= came.relayed || came.behind.contains(head.version) ||
      came.behind.size() >= kMostWaiting)
    return false;
  Bytes push = message.first(sizeof(ChunkMessage)), data = message.subspan(sizeof(ChunkMessage));
  bool next = head.version == came.relayed + 1 && head.seen <= came.direct;
  if (next || mutant(Mutant::kRelayedOvertakes)) {
    came.relayed = head.version;
    handle(maker, push, data);
    go_on(maker, handle);
    return true;
  }
  mark(Mark::kRelayedWaits);
  came.behind[head.version] = {head.seen, {push.begin(), push.end()}, {data.begin(), data.end()}};
  return true;
}

// A direct message; it waits for what was relayed before it.
void Relays::direct(NodeId from, Bytes message, Bytes data, const Handle& handle) {
  Came& came = came_[from.value];
  bool waits = !came.early.empty() || came.relayed < came.marked;
  if (waits) {
    mark(Mark::kDirectWaits);
    came.early.push_back(
        {came.marked, {message.begin(), message.end()}, {data.begin(), data.end()}});
    return;
  }
  ++came.direct;
  handle(from, message, data);
  go_on(from, handle);
}

void Relays::go_on(NodeId from, const Handle& handle) {
  Came& came = came_[from.value];
  for (;;) {
    auto next = came.behind.begin();
    bool is_next = next != came.behind.end() && next->first == came.relayed + 1;
    if (is_next && next->second.after <= came.direct) {
      ++came.relayed;
      Waiting waiting = std::move(next->second);
      came.behind.erase(next);
      handle_kept(from, waiting, handle);
    } else if (!came.early.empty() && came.early.front().after <= came.relayed) {
      ++came.direct;
      Waiting waiting = std::move(came.early.front());
      came.early.pop_front();
      handle_kept(from, waiting, handle);
    } else {
      return;
    }
  }
}

void Relays::handle_kept(NodeId from, Waiting& waiting, const Handle& handle) {
  Waiting& kept = spent_.emplace_back(std::move(waiting));
  handle(from, kept.message, kept.data);
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
