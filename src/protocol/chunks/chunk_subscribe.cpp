// The client's side of pushed chunks: versions in buffers of their own, written by this node or
// received by subscription.
#include <algorithm>

#include "protocol/chunks/chunk_cache.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// ---- Scopes

void ChunkCache::enter_pushed(ChunkId id, Copy& copy, const Copy::Waiter& waiter) {
  copy.used = ++uses_;
  if (waiter.mode == Mode::kRead) {
    Copy::Held& newest = copy.held.back();
    ++newest.readers;
    copy.seen = std::max(copy.seen, newest.version);
    outbox_.resume(waiter.waiter, Status::kOk, id, newest.version, newest.place);
    return;
  }
  copy.writer = true;
  copy.writing = copy.free_place(id, outbox_);
  outbox_.provide(id, copy.bytes, copy.writing);
  if (waiter.mode == Mode::kReadWrite) outbox_.copy(id, copy.held.back().place, copy.writing);
  outbox_.resume(waiter.waiter, Status::kOk, id, copy.version, copy.writing);
}

void ChunkCache::close_pushed(ChunkId id, Copy& copy, const Close& event) {
  if (event.mode == Mode::kRead) {
    for (Copy::Held& held : copy.held) {
      if (held.place != event.place || held.readers == 0) continue;
      --held.readers;
      break;
    }
  } else if (copy.writer) {
    copy.writer = false;
    if (copy.gone) {
      outbox_.discard(id, copy.writing);
      tidy(id, copy);
      return;
    }
    --copy.credit;
    ++copy.version;
    copy.seen = std::max(copy.seen, copy.version);
    ChunkMessage message{.kind = ChunkKind::kPublish, .chunk = id.value, .version = copy.version};
    Range wrote = event.wrote.within(copy.bytes);
    message.seen = wrote.offset;
    message.bytes = wrote.bytes;
    outbox_.send_data(home_of(id, view_), message, copy.writing);
    if (copy.coherence == Coherence::kOnce) {  // no scope writes it any more
      copy.state = State::kInvalid;
      copy.credit = 0;
    }
    copy.keep({.version = copy.version, .place = copy.writing, .written = true});
  }
  tidy(id, copy);
  pump(id, copy);
}

bool ChunkCache::granted_pushed(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message,
                                Bytes tail) {
  bool own = from == outbox_.self();
  bool data = flag(message, wire::kDataFlag);
  bool exclusive = flag(message, wire::kExclusiveFlag);
  if (tail.size() != (data && !own ? copy.bytes : 0)) return false;
  if (message.turn > kMaxWindow) return false;
  if (exclusive) {
    copy.state = State::kExclusive;
    copy.credit = message.turn;
    copy.version = message.version;
  }
  if (data && message.version < copy.seen) {
    mark(Mark::kSnapshotTooOld);  // it was requested before this node wrote; the node asks again
  } else if (data && !copy.held.empty() && !copy.held.back().received() &&
             copy.held.back().version == message.version) {
    mark(Mark::kSnapshotTwice);  // it came with the other request
  } else if (data) {
    Place place = copy.free_place(id, outbox_);
    outbox_.provide(id, copy.bytes, place);
    outbox_.install(from, id, tail, place);
    copy.keep({.version = message.version, .place = place, .snapshot = true});
  }
  pump(id, copy);
  std::erase_if(copy.waiters, [&](const Copy::Waiter& waiter) {
    bool writes = waiter.mode != Mode::kRead && copy.allows(waiter.mode);
    if (waiter.wait != Wait::kTry || !writes || copy.fits(waiter.mode)) return false;
    outbox_.resume(waiter.waiter, Status::kBusy, id);
    return true;
  });
  tidy(id, copy);
  return true;
}

// ---- Buffers

// Discards the buffers that no thread will read, and returns the credit to the home.
void ChunkCache::tidy(ChunkId id, Copy& copy) {
  std::uint64_t newest = 0;
  for (const Copy::Held& held : copy.held)
    if (held.received()) newest = std::max(newest, held.version);
  bool base = false;  // the version from which the next one may begin is kept once
  for (std::size_t i = copy.held.size(); i-- > 0;) {
    const Copy::Held& held = copy.held[i];
    bool is_base = copy.state == State::kExclusive && held.version == copy.version && !base;
    base |= is_base;
    bool is_newest = copy.subscribed && copy.hears_all() && held.received() &&
                     held.version == newest && newest > 0;
    if (is_newest) newest = 0;
    bool kept = is_base || held.readers > 0 || held.fresh || is_newest;
    if (mutant(Mutant::kFreeWhileRead) && held.readers > 0 && !is_newest && !is_base) kept = false;
    if (kept) continue;
    outbox_.discard(id, held.place);
    copy.held.erase(copy.held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (copy.subscribed) copy.return_credit(id, home_of(id, view_), outbox_);
}

bool ChunkCache::credited(const ChunkMessage& message) {
  Copy* copy = find_copy(message.chunk);
  if (!copy || message.turn > kMaxWindow) return false;
  if (copy->state != State::kExclusive) return true;  // of a right that was given up
  copy->credit = std::min(copy->credit + message.turn, kMaxWindow);
  pump(ChunkId{message.chunk}, *copy);
  return true;
}

// ---- Subscriptions

void ChunkCache::subscribe(const Subscribe& event) {
  Copy* copy = find_copy(event.chunk.value);
  Status status = Status::kOk;
  if (!copy || copy->gone || copy->works()) {
    status = Status::kUnknown;
  } else if (copy->coherence == Coherence::kInvalidate || copy->subscribed || event.window < 1 ||
             event.window > kMaxWindow || !event.range.within(copy->bytes).fits(copy->bytes)) {
    status = Status::kMismatch;
  } else {
    std::uint32_t window = event.policy == Policy::kLatest ? 1 : event.window;
    copy->subscribed = true;
    copy->window = window;
    if (make_room(event.chunk, *copy) != Room::kThere) {
      mark(Mark::kSubscribeRefused);
      copy->subscribed = false;
      status = Status::kNoMemory;
    } else {
      copy->at_home = window;
      copy->block = event.policy == Policy::kBlock;
      copy->number = questions_.next_number();
      copy->range = event.range.within(copy->bytes);
      copy->taken = 0;
      copy->send_subscription(event.chunk, home_of(event.chunk, view_), outbox_);
    }
  }
  outbox_.resume(event.waiter, status, event.chunk);
}

void ChunkCache::unsubscribe(ChunkId id) {
  Copy* copy = find_copy(id.value);
  if (!copy || !copy->subscribed) return;
  copy->subscribed = false;
  for (Copy::Held& held : copy->held) {
    held.snapshot |= held.received();
    held.fresh = false;
  }
  for (const Copy::Taker& taker : copy->takers)
    outbox_.resume(taker.waiter, Status::kNotSubscribed, id);
  copy->takers.clear();
  outbox_.send(home_of(id, view_), {.kind = ChunkKind::kUnsubscribe, .chunk = id.value});
  tidy(id, *copy);
  memory_.recount(*copy);
  wake_starved();
}

void ChunkCache::take(const Take& event) {
  Copy* copy = find_copy(event.chunk.value);
  if (!copy || !copy->subscribed) {
    outbox_.resume(event.waiter, Status::kNotSubscribed, event.chunk);
    return;
  }
  copy->takers.push_back({event.waiter, event.deadline_ns});
  copy->serve_takers(event.chunk, outbox_);
  if (event.wait == Wait::kTry && !copy->takers.empty() &&
      copy->takers.back().waiter == event.waiter) {
    mark(Mark::kTakeFindsNothing);
    copy->takers.pop_back();
    outbox_.resume(event.waiter, Status::kBusy, event.chunk);
  }
}

bool ChunkCache::updated(NodeId from, const ChunkMessage& message, Bytes tail) {
  Copy* copy = find_copy(message.chunk);
  if (!copy) return false;
  ChunkId id{message.chunk};
  if (!copy->subscribed || copy->number != message.request) return true;  // it has ended
  bool own = from == outbox_.self();
  bool early = copy->at_home == 0 && !mutant(Mutant::kPushWithoutCredit);
  std::uint64_t last = copy->taken;
  for (const Copy::Held& held : copy->held)
    if (held.fresh) last = held.version;
  Range changed{message.seen, message.bytes};
  if (early || message.version <= last || !changed.fits(copy->bytes)) return false;
  if (tail.size() != (own ? 0 : copy->bytes)) return false;
  if (copy->at_home > 0) --copy->at_home;
  gone_over(id, *copy);
  Place place = copy->free_place(id, outbox_);
  outbox_.provide(id, copy->bytes, place);
  outbox_.install(from, id, tail, place);
  copy->keep({.version = message.version,
              .place = place,
              .fresh = true,
              .changed = changed,
              .missed = message.turn});
  if (copy->takers.empty()) {
    mark(Mark::kUpdateNotifies);
    outbox_.notify(id, message.version);
  } else {
    mark(Mark::kUpdateAwaited);
  }
  copy->serve_takers(id, outbox_);
  tidy(id, *copy);
  pump(id, *copy);
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
