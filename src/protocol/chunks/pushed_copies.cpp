#include "protocol/chunks/pushed_copies.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// ---- Scopes

void PushedCopies::enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter) {
  copies_.use(copy);
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

void PushedCopies::close(ChunkId id, Copy& copy, const Close& event) {
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
}

bool PushedCopies::granted(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message,
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
  return true;
}

// The scopes that could open have opened: tries of writers wait for no credit.
void PushedCopies::refuse_tries(ChunkId id, Copy& copy) {
  std::erase_if(copy.waiters, [&](const Copy::Waiter& waiter) {
    bool writes = waiter.mode != Mode::kRead && copy.allows(waiter.mode);
    if (waiter.wait != Wait::kTry || !writes || copy.fits(waiter.mode)) return false;
    outbox_.resume(waiter.waiter, Status::kBusy, id);
    return true;
  });
  tidy(id, copy);
}

// ---- Buffers

// Discards the buffers that no thread will read, and returns the credit to the home.
void PushedCopies::tidy(ChunkId id, Copy& copy) {
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

// ---- Subscriptions

// The thread goes on when the home knows of the subscription: what others write after that comes.
void PushedCopies::subscribe(const Subscribe& event) {
  Copy* copy = copies_.find(event.chunk);
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
    if (copies_.make_room(event.chunk, *copy) != WorkBudget::Room::kThere) {
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
      copy->subscriber = event.waiter;
      if (!mutant(Mutant::kSubscribedUnheard)) return;
      copy->subscriber.reset();
    }
  }
  outbox_.resume(event.waiter, status, event.chunk);
}

void PushedCopies::subscribed(const ChunkMessage& message) {
  ChunkId id{message.chunk};
  Copy* copy = copies_.find(id);
  if (copy && copy->number == message.request) copy->answer_subscriber(Status::kOk, id, outbox_);
}

bool PushedCopies::unsubscribe(ChunkId id) {
  Copy* copy = copies_.find(id);
  if (!copy || !copy->subscribed) return false;
  copy->subscribed = false;
  copy->answer_subscriber(Status::kNotSubscribed, id, outbox_);
  for (Copy::Held& held : copy->held) {
    held.snapshot |= held.received();
    held.fresh = false;
  }
  for (const Copy::Taker& taker : copy->takers)
    outbox_.resume(taker.waiter, Status::kNotSubscribed, id);
  copy->takers.clear();
  outbox_.send(home_of(id, view_), {.kind = ChunkKind::kUnsubscribe, .chunk = id.value});
  tidy(id, *copy);
  copies_.recount(*copy);
  return true;
}

void PushedCopies::take(const Take& event) {
  Copy* copy = copies_.find(event.chunk);
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

bool PushedCopies::updated(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message,
                           Bytes tail) {
  bool own = from == outbox_.self();
  bool early = copy.subscriber || (copy.at_home == 0 && !mutant(Mutant::kPushWithoutCredit));
  std::uint64_t last = copy.taken;
  for (const Copy::Held& held : copy.held)
    if (held.fresh) last = held.version;
  Range changed{message.seen, message.bytes};
  if (early || message.version <= last || !changed.fits(copy.bytes)) return false;
  if (tail.size() != (own ? 0 : copy.bytes)) return false;
  if (copy.at_home > 0) --copy.at_home;
  gone_over(id, copy);
  Place place = copy.free_place(id, outbox_);
  outbox_.provide(id, copy.bytes, place);
  outbox_.install(from, id, tail, place);
  copy.keep({.version = message.version,
             .place = place,
             .fresh = true,
             .changed = changed,
             .missed = message.turn});
  if (copy.takers.empty()) {
    mark(Mark::kUpdateNotifies);
    outbox_.notify(id, message.version);
  } else {
    mark(Mark::kUpdateAwaited);
  }
  copy.serve_takers(id, outbox_);
  tidy(id, copy);
  return true;
}

// ---- Another coherence, and the death of the home

void PushedCopies::go_over(ChunkId id, Copy& copy, const Copy::Due& due) {
  ChunkMessage answer{.kind = ChunkKind::kYielded, .mode = static_cast<std::uint8_t>(due.mode)};
  answer.chunk = id.value;
  answer.turn = due.turn;
  answer.version = copy.version;
  if (copy.state == State::kModified) {
    answer.flags = wire::kDataFlag;
    outbox_.send_data(home_of(id, view_), answer);
  } else {
    outbox_.send(home_of(id, view_), answer);
  }
  copy.state = State::kInvalid;
  copy.blank = false;
  copy.credit = 0;
  bool was_pushed = copy.pushed();
  bool stays = was_pushed && due.to != Coherence::kInvalidate;
  if (due.to != copy.coherence) gone_over(id, copy);  // all had changed to copy.coherence
  if (!stays) {
    if (copy.subscribed) copy.end_subscription(id, outbox_);
    // This shows a successor of the home which versions have been seen.
    copy.version = copy.seen = std::max(copy.seen, copy.version);
    if (was_pushed || copies_.own(id) || !copy.has_bytes) copies_.release(id, copy);
    if (was_pushed) copy.end_tries_in_line(id, outbox_);
  }
  copy.coherence = due.to;
  if (!was_pushed) copy.half = due.to;
  if (stays) tidy(id, copy);
}

// All nodes have changed to the new coherence: before that the home would not have sent what came
// here.
void PushedCopies::gone_over(ChunkId id, Copy& copy) {
  if (!copy.half || mutant(Mutant::kGoneOverUnnoticed)) return;
  copy.half.reset();
  if (copy.pushed()) copies_.forget_bytes(id, copy);
}

// The home died, and this node does not know whether all had changed. The successor finds out.
void PushedCopies::step_back(ChunkId id, Copy& copy) {
  mark(Mark::kHintStepsBack);
  if (copy.subscribed) copy.end_subscription(id, outbox_);
  copy.coherence = Coherence::kInvalidate;
  copies_.shrink(copy, copy.has_bytes ? copy.bytes : 0);
  copy.end_tries_in_line(id, outbox_);
}

// The versions were at the home, and died with it. Open scopes may still use the buffers here.
void PushedCopies::lose(ChunkId id, Copy& copy) {
  copy.gone = true;
  copy.state = State::kInvalid;
  copy.subscribed = false;
  copy.answer_subscriber(Status::kUnknown, id, outbox_);
  for (Copy::Held& held : copy.held) held.fresh = false;
  for (const Copy::Taker& taker : copy.takers)
    outbox_.resume(taker.waiter, Status::kNotSubscribed, id);
  copy.takers.clear();
  for (const Copy::Waiter& waiter : copy.waiters)
    outbox_.resume(waiter.waiter, Status::kUnknown, id);
  copy.waiters.clear();
  tidy(id, copy);
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
