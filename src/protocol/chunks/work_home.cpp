#include "protocol/chunks/work_home.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

const WorkHome::Stream* WorkHome::stream(ChunkId chunk) const {
  auto at = streams_.find(chunk.value);
  return at == streams_.end() ? nullptr : &at->second;
}

bool WorkHome::is_needed() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const auto& one) { return !one.second.drained; });
}

WorkHome::Stream::Writer* WorkHome::find_writer(Stream& stream, NodeId node) {
  auto at = std::find_if(stream.writers.begin(), stream.writers.end(),
                         [&](const Stream::Writer& one) { return one.node == node; });
  return at == stream.writers.end() ? nullptr : &*at;
}

bool WorkHome::received(NodeId from, const ChunkMessage& message, Bytes tail) {
  switch (message.kind) {
    case ChunkKind::kWorkWriter:
      return write(from, message, tail);
    case ChunkKind::kWorkSubscribe:
      return subscribe(from, message, tail);
    case ChunkKind::kWorkEnd:
      return end(from, message, tail);
    default:
      break;
  }
  if (message.kind == ChunkKind::kWorkLeave) {  // what the node sent before was handled by now
    outbox_.send(from, {.kind = ChunkKind::kWorkLeft, .chunk = message.chunk});
    return true;
  }
  if (!streams_.contains(message.chunk)) return false;
  switch (message.kind) {
    case ChunkKind::kWorkPut:
      return put(from, message, tail);
    case ChunkKind::kWorkUnsubscribe:
      return unsubscribe(from, message, tail);
    case ChunkKind::kWorkDone:
      return done(from, message, tail);
    case ChunkKind::kWorkReleased:
      return released(from, message, tail);
    case ChunkKind::kWorkStopped:
      return stopped(from, message);
    default:
      return false;
  }
}

// The first message about a stream describes it.
WorkHome::Stream& WorkHome::learn(const ChunkMessage& message, Bytes name) {
  auto [at, fresh] = streams_.try_emplace(message.chunk);
  Stream& stream = at->second;
  if (!fresh) return stream;
  stream.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
  stream.bytes = message.bytes;
  stream.capacity = message.seen;
  stream.in_order = message.mode != 0;
  return stream;
}

// ---- Writers

bool WorkHome::write(NodeId from, const ChunkMessage& message, Bytes name) {
  if (name.empty() || name.size() > kMaxNameBytes || message.bytes > kMaxChunkBytes) return false;
  ChunkId id{message.chunk};
  Stream& stream = learn(message, name);
  if (find_writer(stream, from) != nullptr) return false;
  if (stream.ended) {  // it may be drained: no version may come any more
    outbox_.send(from, {.kind = ChunkKind::kWorkStop, .chunk = id.value});
    return true;
  }
  ChunkMessage answer{.kind = ChunkKind::kWorkSettled, .chunk = id.value};
  if (!memory_.reserve(stream.capacity)) {
    answer.flags = wire::kFullFlag;
    outbox_.send(from, answer);
    return true;
  }
  mark(WorkMark::kWriterRegistered);
  stream.writers.push_back({.node = from});
  answer.bytes = stream.capacity;
  outbox_.send(from, answer);
  if (stream.died != kNoNode) {
    ChunkMessage takers{.kind = ChunkKind::kWorkTakers, .chunk = id.value};
    takers.version = stream.died.value;
    outbox_.send(from, takers);
  }
  return true;
}

bool WorkHome::put(NodeId from, const ChunkMessage& message, Bytes tail) {
  ChunkId id{message.chunk};
  Stream& stream = streams_[message.chunk];
  Stream::Writer* writer = find_writer(stream, from);
  if (writer == nullptr || writer->stopped || message.bytes > stream.bytes) return false;
  bool own = from == outbox_.self();
  if (own ? !tail.empty() : tail.size() < message.bytes) return false;
  std::uint64_t cost = work_cost(message.bytes, stream.bytes);
  if (writer->unsettled + writer->done_bytes + cost > stream.capacity) return false;
  writer->unsettled += cost;
  Item item{.version = 0, .tag = message.seen, .bytes = message.bytes};
  item.writer = from;
  item.put = message.request;
  item.depends = flag(message, wire::kDependsFlag);
  bool had = stream.in_order && (item.tag < stream.next_tag || stream.queued.contains(item.tag));
  if (had && !mutant(WorkMutant::kTagTwice)) {
    mark(WorkMark::kPutTwice);
    Item* first = find_tag(stream, item.tag);
    if (first != nullptr) {
      first->others.push_back(item);
    } else {
      settle(id, stream, item);
    }
    advance(id, stream);
    return true;
  }
  if (stream.in_order && item.tag != stream.next_tag) mark(WorkMark::kPutOutOfTurn);
  item.version = ++stream.last;
  stream.writer = from;
  item.place = free_place(id, stream);
  outbox_.provide(id, item.bytes, item.place);
  outbox_.install(from, id, tail, item.place);
  std::uint64_t key = stream.in_order ? item.tag : item.version;
  while (stream.queued.contains(key)) ++key;  // only with a planted fault
  stream.queued.emplace(key, item);
  advance(id, stream);
  return true;
}

WorkHome::Item* WorkHome::find_tag(Stream& stream, std::uint64_t tag) {
  for (auto* items : {&stream.queued, &stream.given}) {
    if (items == &stream.given && mutant(WorkMutant::kSecondDoneEarly)) break;
    for (auto& [key, item] : *items)
      if (item.tag == tag) return &item;
  }
  return nullptr;
}

Place WorkHome::free_place(ChunkId id, const Stream& stream) const {
  Place place{kHomePlaces};
  auto taken = [&] {
    auto has = [&](const auto& one) { return one.second.place == place; };
    return outbox_.leaving(id, place) ||
           std::any_of(stream.queued.begin(), stream.queued.end(), has) ||
           std::any_of(stream.given.begin(), stream.given.end(), has);
  };
  while (taken()) ++place.value;
  return place;
}

// The version is done: notes it for its writer.
void WorkHome::settle(ChunkId id, Stream& stream, const Item& item) {
  for (const Item& other : item.others) settle(id, stream, other);
  Stream::Writer* writer = find_writer(stream, item.writer);
  if (writer == nullptr) return;
  std::uint64_t cost = work_cost(item.bytes, stream.bytes);
  writer->unsettled -= cost;
  if (writer->dead) return;
  writer->done.push_back(item.put);
  writer->done_bytes += cost;
  bool late = mutant(WorkMutant::kSettledLate);
  if ((item.depends || writer->done_bytes >= stream.capacity / 2) && !late)
    tell_settled(id, *writer);
}

void WorkHome::tell_settled(ChunkId id, Stream::Writer& writer) {
  if (writer.done.empty()) return;
  mark(WorkMark::kSettledSent);
  if (writer.done.size() > 1) mark(WorkMark::kSettledBatched);
  ChunkMessage message{.kind = ChunkKind::kWorkSettled, .chunk = id.value};
  message.bytes = writer.done_bytes;
  outbox_.send(writer.node, message, bytes_of(writer.done));
  writer.done.clear();
  writer.done_bytes = 0;
}

// ---- Subscribers

bool WorkHome::subscribe(NodeId from, const ChunkMessage& message, Bytes name) {
  if (name.empty() || name.size() > kMaxNameBytes || message.bytes > kMaxChunkBytes) return false;
  ChunkId id{message.chunk};
  Stream& stream = learn(message, name);
  ChunkMessage answer{.kind = ChunkKind::kWorkSubscribed, .chunk = id.value};
  answer.request = message.request;
  for (const Stream::Subscriber& one : stream.subscribers)
    if (one.node == from) return false;
  if (stream.drained) {
    mark(WorkMark::kSubscribeAfterEnd);
    answer.flags = wire::kEndedFlag;
  } else if (stream.in_order && !stream.subscribers.empty()) {
    answer.flags = wire::kFullFlag;
  }
  outbox_.send(from, answer);
  if (answer.flags != 0) return true;
  stream.subscribers.push_back(
      {.node = from, .number = message.request, .credit = message.version, .used = 0});
  if (stream.died != kNoNode) {
    mark(WorkMark::kTakersAgain);
    stream.died = kNoNode;
    tell_takers(id, stream);
  }
  advance(id, stream);
  return true;
}

bool WorkHome::unsubscribe(NodeId from, const ChunkMessage& message, Bytes tail) {
  std::vector<std::uint64_t> keeps;
  if (!numbers_of(tail, keeps)) return false;
  ChunkId id{message.chunk};
  Stream& stream = streams_[message.chunk];
  std::erase_if(stream.subscribers,
                [&](const Stream::Subscriber& one) { return one.node == from; });
  take_back(id, stream, from, keeps);
  advance(id, stream);
  return true;
}

// The subscriber has room for other versions; these are done when the versions made from them are.
bool WorkHome::released(NodeId from, const ChunkMessage& message, Bytes tail) {
  std::vector<std::uint64_t> versions;
  if (!numbers_of(tail, versions)) return false;
  Stream& stream = streams_[message.chunk];
  for (std::uint64_t version : versions) {
    auto at = stream.given.find(version);
    if (at == stream.given.end() || at->second.given_to != from) return false;
    return_credit(stream, at->second);
  }
  advance(ChunkId{message.chunk}, stream);
  return true;
}

void WorkHome::return_credit(Stream& stream, Item& item) {
  if (item.released) return;
  item.released = true;
  for (Stream::Subscriber& one : stream.subscribers)
    if (one.node == item.given_to && one.number == item.subscription)
      one.used -= work_cost(item.bytes, stream.bytes);
}

bool WorkHome::done(NodeId from, const ChunkMessage& message, Bytes tail) {
  std::vector<std::uint64_t> versions;
  if (!numbers_of(tail, versions)) return false;
  ChunkId id{message.chunk};
  Stream& stream = streams_[message.chunk];
  for (std::uint64_t version : versions) {
    auto at = stream.given.find(version);
    if (at == stream.given.end() || at->second.given_to != from) return false;
    return_credit(stream, at->second);
    Item item = at->second;
    stream.given.erase(at);
    outbox_.discard(id, item.place);
    settle(id, stream, item);
  }
  advance(id, stream);
  return true;
}

// The versions that the node was given go back into the queue, except for those that it keeps.
void WorkHome::take_back(ChunkId id, Stream& stream, NodeId from,
                         const std::vector<std::uint64_t>& keeps) {
  std::vector<std::uint64_t> tags;
  for (auto at = stream.given.begin(); at != stream.given.end();) {
    bool kept = std::find(keeps.begin(), keeps.end(), at->first) != keeps.end();
    if (at->second.given_to != from || kept) {
      ++at;
      continue;
    }
    Item item = at->second;
    at = stream.given.erase(at);
    tags.push_back(item.tag);
    item.again = true;
    item.released = false;
    item.given_to = kNoNode;
    if (mutant(WorkMutant::kForgetDead)) {
      outbox_.discard(id, item.place);
      settle(id, stream, item);
      continue;
    }
    stream.queued.emplace(stream.in_order ? item.tag : item.version, item);
  }
  if (!tags.empty() && !view_.has(from))
    outbox_.returned({id, stream.name, from, std::move(tags), !stream.subscribers.empty()});
}

// Of the subscribers with room for the version, the one that uses the least credit.
WorkHome::Stream::Subscriber* WorkHome::next_subscriber(Stream& stream, std::uint64_t cost) {
  Stream::Subscriber* best = nullptr;
  for (Stream::Subscriber& one : stream.subscribers) {
    if (one.used + cost > one.credit && !mutant(WorkMutant::kGiveWithoutCredit)) continue;
    if (best == nullptr || one.used < best->used) best = &one;
  }
  return best;
}

void WorkHome::give_all(ChunkId id, Stream& stream) {
  while (!stream.queued.empty()) {
    auto first = stream.queued.begin();
    Item& item = first->second;
    bool in_turn = !stream.in_order || item.tag <= stream.next_tag;
    bool gap_stays = stream.ended && has_stopped(stream);
    if (!in_turn && !gap_stays) return;
    Stream::Subscriber* to = next_subscriber(stream, work_cost(item.bytes, stream.bytes));
    if (to == nullptr) {
      mark(WorkMark::kGiveAwaitsCredit);
      return;
    }
    mark(item.again ? WorkMark::kGivenAgain : WorkMark::kGiven);
    if (stream.in_order) stream.next_tag = std::max(stream.next_tag, item.tag + 1);
    to->used += work_cost(item.bytes, stream.bytes);
    item.given_to = to->node;
    item.subscription = to->number;
    ChunkMessage message{.kind = ChunkKind::kWorkGive, .chunk = id.value};
    if (item.again) message.flags = wire::kAgainFlag;
    message.version = item.version;
    message.seen = item.tag;
    message.bytes = item.bytes;
    message.request = to->number;
    message.turn = item.writer.value;
    outbox_.send_data(to->node, message, item.place, item.bytes);
    stream.given.emplace(item.version, item);
    stream.queued.erase(first);
  }
}

void WorkHome::tell_takers(ChunkId id, const Stream& stream) {
  ChunkMessage message{.kind = ChunkKind::kWorkTakers, .chunk = id.value};
  message.turn = static_cast<std::uint32_t>(stream.subscribers.size());
  message.version = stream.died.value;
  for (const Stream::Writer& writer : stream.writers)
    if (!writer.dead) outbox_.send(writer.node, message);
}

// ---- The end

bool WorkHome::end(NodeId from, const ChunkMessage& message, Bytes name) {
  if (name.empty() || name.size() > kMaxNameBytes || message.bytes > kMaxChunkBytes) return false;
  ChunkId id{message.chunk};
  Stream& stream = learn(message, name);
  outbox_.send(from, {.kind = ChunkKind::kWorkEnding, .chunk = id.value});
  if (stream.ended) return true;
  mark(WorkMark::kEnded);
  stream.ended = true;
  for (const Stream::Writer& writer : stream.writers)
    if (!writer.dead) outbox_.send(writer.node, {.kind = ChunkKind::kWorkStop, .chunk = id.value});
  advance(id, stream);
  return true;
}

bool WorkHome::stopped(NodeId from, const ChunkMessage& message) {
  Stream& stream = streams_[message.chunk];
  Stream::Writer* writer = find_writer(stream, from);
  if (!stream.ended) return false;
  if (writer != nullptr) writer->stopped = true;
  advance(ChunkId{message.chunk}, stream);
  return true;
}

bool WorkHome::has_stopped(const Stream& stream) const {
  return std::all_of(stream.writers.begin(), stream.writers.end(),
                     [](const Stream::Writer& one) { return one.stopped || one.dead; });
}

// Does what can be done now: gives versions, returns credit, reports the end.
void WorkHome::advance(ChunkId id, Stream& stream) {
  give_all(id, stream);
  if (stream.queued.empty() && !mutant(WorkMutant::kSettledLate))
    for (Stream::Writer& writer : stream.writers) tell_settled(id, writer);
  forget_gone_writers(stream);
  bool all_put = has_stopped(stream) || mutant(WorkMutant::kEndUnasked);
  bool all_done =
      stream.queued.empty() && (stream.given.empty() || mutant(WorkMutant::kEndBeforeDone));
  if (!stream.ended || stream.drained || !all_put || !all_done) return;
  mark(WorkMark::kDrained);
  stream.drained = true;
  for (const Stream::Subscriber& one : stream.subscribers)
    outbox_.send(one.node, {.kind = ChunkKind::kWorkDrained, .chunk = id.value});
}

// ---- Nodes that have died or left

// Forgets the dead writers whose versions are all done.
void WorkHome::forget_gone_writers(Stream& stream) {
  std::erase_if(stream.writers, [&](const Stream::Writer& one) {
    bool over = one.dead && one.unsettled == 0;
    if (over) memory_.give_back(stream.capacity);
    return over;
  });
}

void WorkHome::view_changed() {
  for (auto& [id, stream] : streams_) bury(ChunkId{id}, stream);
}

void WorkHome::bury(ChunkId id, Stream& stream) {
  NodeId last = kNoNode;
  std::erase_if(stream.subscribers, [&](const Stream::Subscriber& one) {
    if (view_.has(one.node)) return false;
    mark(WorkMark::kSubscriberDied);
    last = one.node;
    return true;
  });
  std::vector<NodeId> gone;
  for (const auto& [version, item] : stream.given)
    if (!view_.has(item.given_to) &&
        std::find(gone.begin(), gone.end(), item.given_to) == gone.end())
      gone.push_back(item.given_to);
  for (NodeId node : gone) take_back(id, stream, node, {});
  for (Stream::Writer& writer : stream.writers) {
    if (writer.dead || view_.has(writer.node)) continue;
    mark(WorkMark::kWriterDied);
    writer.dead = true;
    writer.done.clear();
    writer.done_bytes = 0;
  }
  if (last != kNoNode && stream.subscribers.empty() && !stream.drained) {
    mark(WorkMark::kLastSubscriberDied);
    stream.died = last;
    if (!mutant(WorkMutant::kDeathUntold)) tell_takers(id, stream);
  }
  advance(id, stream);
}

void WorkHome::check_invariants() const {
  for (const auto& [id, stream] : streams_) {
    std::map<std::uint32_t, std::uint64_t> unsettled;
    for (const auto* items : {&stream.queued, &stream.given})
      for (const auto& [key, item] : *items) {
        unsettled[item.writer.value] += work_cost(item.bytes, stream.bytes);
        for (const Item& other : item.others)
          unsettled[other.writer.value] += work_cost(other.bytes, stream.bytes);
      }
    for (const Stream::Writer& writer : stream.writers) {
      TERRANE_CHECK(writer.unsettled == unsettled[writer.node.value],
                    "what a writer has under way is at the home");
      TERRANE_CHECK(writer.unsettled + writer.done_bytes <= stream.capacity,
                    "a writer stays within its capacity");
    }
    for (const Stream::Subscriber& one : stream.subscribers)
      TERRANE_CHECK(one.used <= one.credit, "a subscriber is given what it has credit for");
  }
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
