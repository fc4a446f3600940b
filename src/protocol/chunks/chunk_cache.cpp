#include "protocol/chunks/chunk_cache.h"

#include <algorithm>
#include <utility>

#include "protocol/chunks/work_shape.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::RecallMode;

bool ChunkCache::received(NodeId from, const ChunkMessage& message, Bytes tail) {
  switch (message.kind) {
    case ChunkKind::kFound:
      return found(from, message);
    case ChunkKind::kGrant:
      return granted(from, message, tail);
    case ChunkKind::kRefused:
      return refused(message);
    case ChunkKind::kRecall:
      return recalled(from, message);
    case ChunkKind::kEvicted:
      return evicted(message);
    case ChunkKind::kServing:
      copies_.home_serves(slot_of(message));
      wake_starved();
      return true;
    case ChunkKind::kSubscribed:
      pushed_.subscribed(message);
      return true;
    case ChunkKind::kUpdate:
      return updated(from, message, tail);
    case ChunkKind::kCredit:
      return credited(message);
    case ChunkKind::kHinted:
      return hinted(message);
    case ChunkKind::kGone:
      return is_gone(message);
    case ChunkKind::kLeft:
      leaving_.left(from);
      return true;
    default:
      return false;
  }
}

// ---- Names

// An answer for which no thread waits any more is no error of the home.
bool ChunkCache::found(NodeId from, const ChunkMessage& message) {
  const ChunkQuestions::Named* ask = questions_.named(message.request);
  if (ask == nullptr) return true;
  if (flag(message, wire::kElsewhereFlag)) {
    if (ask->asked != from || message.turn >= view_.slots.size()) return false;
    questions_.ask_elsewhere(*ask, message.turn);
    return true;
  }
  if (flag(message, wire::kUnplacedFlag)) {
    if (message.bytes > kMaxChunkBytes) return false;
    outbox_.resume(ask->waiter, Status::kUnplaced, kNoChunk, message.coherence, Place{}, 0,
                   {0, message.bytes});
    questions_.end(*ask);
    return true;
  }
  ChunkId id{message.chunk};
  Status status = flag(message, wire::kUnknownFlag)    ? Status::kUnknown
                  : flag(message, wire::kFullFlag)     ? Status::kNoMemory
                  : flag(message, wire::kMismatchFlag) ? Status::kMismatch
                                                       : Status::kOk;
  if (status == Status::kOk) {
    bool owner = flag(message, wire::kExclusiveFlag);
    if (home_of(id, view_) != from || (owner && !ask->creates)) return false;
    if (!learn(id, message, ask->name, owner)) return false;
    if (ask->creates && !flag(message, wire::kCreatedFlag)) status = Status::kExisted;
  }
  bool works = message.coherence == static_cast<int>(Coherence::kWork);
  outbox_.resume(ask->waiter, status, id, works ? 0 : message.version);
  questions_.end(*ask);
  return true;
}

// False: the answer is malformed.
bool ChunkCache::learn(ChunkId id, const ChunkMessage& message, const std::string& name,
                       bool owner) {
  bool works = message.coherence == static_cast<int>(Coherence::kWork);
  int most = static_cast<int>(works ? Coherence::kWork : Coherence::kOnce);
  if (message.bytes > kMaxChunkBytes || message.coherence > most || message.mode > most)
    return false;
  auto coherence = static_cast<Coherence>(message.coherence);
  auto [copy, fresh] = copies_.add(id, message.bytes, coherence, name);
  if (!fresh && (owner || copy.bytes != message.bytes || (works && !copy.works()))) return false;
  if (works) {
    work_.learn(id, name, message.bytes, shape_of(message),
                NodeId{static_cast<std::uint32_t>(message.seen)});
    return true;
  }
  if (!fresh) return true;
  copy.made = static_cast<Coherence>(message.mode);
  if (flag(message, wire::kChangingFlag) && copy.pushed()) copy.half = copy.coherence;
  if (!owner) return true;
  copy.state = State::kExclusive;
  if (copies_.make_room(id, copy) == Room::kThere) {
    copy.has_bytes = true;
    outbox_.provide(id, copy.bytes);
  } else {
    copies_.evict(id, copy);
  }
  return true;
}

// ---- Another coherence

void ChunkCache::hint(const Hint& event) {
  Copy* copy = copies_.find(event.chunk);
  if (!copy || copy->gone || copy->works()) {
    outbox_.resume(event.waiter, Status::kUnknown, event.chunk);
    return;
  }
  questions_.hint(event);
}

bool ChunkCache::hinted(const ChunkMessage& message) {
  const ChunkQuestions::Hinted* question = questions_.hinted(message.request);
  if (question == nullptr) return true;  // no thread waits for it any more
  Status status = flag(message, wire::kUnknownFlag) ? Status::kUnknown
                  : flag(message, wire::kFullFlag)  ? Status::kNoMemory
                                                    : Status::kOk;
  Copy* copy = copies_.find(question->chunk);
  if (copy && status == Status::kOk) pushed_.gone_over(question->chunk, *copy);
  outbox_.resume(question->waiter, status, question->chunk);
  questions_.end(*question);
  return true;
}

// ---- Scopes

void ChunkCache::open(const Open& event) {
  Copy* copy = copies_.find(event.chunk);
  if (!copy || copy->gone || copy->works()) {
    outbox_.resume(event.waiter, Status::kUnknown, event.chunk);
    return;
  }
  Copy::Waiter waiter{event.waiter, event.mode, event.wait, event.deadline_ns};
  bool free = copy->waiters.empty() && !copy->due;
  bool here = copy->fits(event.mode) &&
              (free || (copy->pushed() && event.mode == Mode::kRead && !copy->ending()));
  if (here && copy->allows(event.mode)) {
    mark(Mark::kOpenHere);
    enter(event.chunk, *copy, waiter);
    return;
  }
  if (event.wait == Wait::kTry && (!here || !copy->may_ask(event.mode))) {
    mark(Mark::kOpenBusyHere);
    outbox_.resume(event.waiter, Status::kBusy, event.chunk);
    return;
  }
  if (!here) mark(Mark::kOpenWaitsHere);
  copy->waiters.push_back(waiter);
  pump(event.chunk, *copy);
}

void ChunkCache::enter(ChunkId id, Copy& copy, const Copy::Waiter& waiter) {
  if (copy.pushed()) return pushed_.enter(id, copy, waiter);
  copies_.use(copy);
  if (waiter.mode == Mode::kRead) {
    ++copy.readers;
  } else {
    copy.writer = true;
    copy.state = State::kModified;
    copy.blank = false;
    copy.has_bytes = true;
  }
  outbox_.resume(waiter.waiter, Status::kOk, id, copy.version);
}

void ChunkCache::close(const Close& event) {
  Copy* copy = copies_.find(event.chunk);
  if (!copy) return;
  if (copy->pushed()) {
    pushed_.close(event.chunk, *copy, event);
    pump(event.chunk, *copy);
    wake_starved();
    return;
  }
  if (event.mode == Mode::kRead) {
    if (copy->readers == 0) return;
    --copy->readers;
  } else {
    if (!copy->writer) return;
    copy->writer = false;
    if (!mutant(Mutant::kVersionStays)) ++copy->version;
  }
  if (copy->gone) {
    if (copy->readers == 0 && !copy->writer) copies_.release(event.chunk, *copy);
    wake_starved();
    return;
  }
  copies_.use(*copy);
  pump(event.chunk, *copy);
  wake_starved();
}

// Opens the scopes that can open, answers a recall that is due, and sends the requests that are
// missing.
void ChunkCache::pump(ChunkId id, Copy& copy) {
  if (copy.due && copy.can_yield(*copy.due)) {
    Copy::Due due = *copy.due;
    copy.due.reset();
    yield(id, copy, due);
  }
  while (admit(id, copy)) {
  }
  if (copy.waiters.empty()) return;
  if (copy.blank && !copy.writer && copy.waiters.front().mode != Mode::kWrite) {
    mark(Mark::kBlankGivenBack);
    copies_.evict(id, copy);
  }
  for (;;) {
    std::size_t at = copy.next_to_ask();
    if (at == copy.waiters.size() || ask(id, copy, at) == Asked::kLater) return;
  }
}

// Opens the first waiting scope that may open. Readers of a pushed chunk need not wait for writers.
bool ChunkCache::admit(ChunkId id, Copy& copy) {
  for (std::size_t i = 0; i < (copy.pushed() ? copy.waiters.size() : 1); ++i) {
    if (copy.waiters.empty()) return false;
    Copy::Waiter waiter = copy.waiters[i];
    if (!copy.allows(waiter.mode) || !copy.fits(waiter.mode)) continue;
    bool reads = waiter.mode == Mode::kRead;
    bool keeps = reads && (copy.pushed() || (copy.due && copy.due->mode == RecallMode::kShare));
    if (copy.due && (copy.ending() || !keeps)) continue;
    mark(Mark::kOpenAfterGrant);
    copy.waiters.erase(copy.waiters.begin() + static_cast<std::ptrdiff_t>(i));
    enter(id, copy, waiter);
    return true;
  }
  return false;
}

// Sends a request for the waiter at this index. kLater: there is no room yet; kTold: no request can
// be sent for it, and it was resumed with the reason.
ChunkCache::Asked ChunkCache::ask(ChunkId id, Copy& copy, std::size_t at) {
  const Copy::Waiter front = copy.waiters[at];
  auto tell = [&](Status status) {
    outbox_.resume(front.waiter, status, id);
    copy.waiters.erase(copy.waiters.begin() + static_cast<std::ptrdiff_t>(at));
    return Asked::kTold;
  };
  bool full =
      copy.pushed() && copy.own_places() >= Copy::kOwnPlaces && !mutant(Mutant::kPlacesUncounted);
  for (const Copy::Held& held : copy.held) full |= held.snapshot && held.version < copy.seen;
  if (full) {
    mark(Mark::kRequestWaitsForReaders);
    return front.wait == Wait::kTry ? tell(Status::kBusy) : Asked::kLater;
  }
  Room room = copies_.make_room(id, copy);
  if (room == Room::kSoon) {
    if (std::find(starved_.begin(), starved_.end(), id.value) == starved_.end())
      starved_.push_back(id.value);
    return Asked::kLater;
  }
  if (room == Room::kNone) {
    mark(Mark::kOpenOutOfMemory);
    return tell(Status::kNoMemory);
  }
  send_request(id, copy, front);
  return Asked::kYes;
}

void ChunkCache::send_request(ChunkId id, Copy& copy, const Copy::Waiter& waiter) {
  ChunkMessage message{.kind = ChunkKind::kRequest, .chunk = id.value, .version = copy.version};
  bool exclusive = copy.asks_exclusive(waiter.mode);
  bool whole = waiter.mode == Mode::kWrite;
  bool tries = waiter.wait == Wait::kTry;
  if (exclusive) message.flags |= wire::kExclusiveFlag;
  if (tries) message.flags |= wire::kTryFlag;
  if (whole) message.flags |= wire::kWholeFlag;
  if (copy.has_bytes && !copy.pushed()) message.flags |= wire::kHaveFlag;
  mark(!exclusive                     ? Mark::kRequestShared
       : copy.state == State::kShared ? Mark::kRequestUpgrade
       : whole                        ? Mark::kRequestWhole
                                      : Mark::kRequestExclusive);
  if (copy.asks()) mark(Mark::kRequestBoth);
  message.request = questions_.next_number();
  copy.pending[exclusive] = Copy::Pending{message.request, tries, !whole, false, waiter.waiter};
  outbox_.send(home_of(id, view_), message);
}

bool ChunkCache::granted(NodeId from, const ChunkMessage& message, Bytes tail) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
  ChunkId id{message.chunk};
  const Copy::Pending* request = copy ? copy->find_request(message.request) : nullptr;
  if (!request) return false;
  bool asked_exclusive = copy->pending[1] && request == &*copy->pending[1];
  pushed_.gone_over(id, *copy);
  if (copies_.make_room(id, *copy) != Room::kThere) {
    copy->pending[asked_exclusive].reset();
    return give_back(from, id, *copy, message);
  }
  if (copy->pushed()) {
    if (asked_exclusive != flag(message, wire::kExclusiveFlag)) return false;
    copy->pending[asked_exclusive].reset();
    if (!pushed_.granted(from, id, *copy, message, tail)) return false;
    pump(id, *copy);
    pushed_.refuse_tries(id, *copy);
    return true;
  }
  bool data = flag(message, wire::kDataFlag);
  bool own = from == outbox_.self();
  bool blank = flag(message, wire::kBlankFlag) && !own;
  bool exclusive = flag(message, wire::kExclusiveFlag);
  if (tail.size() != (data && !own ? copy->bytes : 0)) return false;
  if ((blank || asked_exclusive) && !exclusive) return false;
  bool given_back = std::exchange(copy->given_back, false);
  if (!data && !own && !blank && !copy->has_bytes) {
    // The home granted this before it heard that its bytes were given back. Now it has.
    if (!given_back || !exclusive) return false;
    copy->pending[asked_exclusive].reset();
    pump(id, *copy);
    return true;
  }
  copy->pending[asked_exclusive].reset();
  copy->state = exclusive ? State::kExclusive : State::kShared;
  copy->version = message.version;
  copy->blank = blank;
  copy->has_bytes = !blank;
  outbox_.provide(id, copy->bytes);
  if (data) outbox_.install(from, id, tail);
  if (copy->waiters.empty()) mark(Mark::kGrantUnwanted);
  pump(id, *copy);
  return true;
}

// There is no room for what was granted: the chunk has changed its coherence since the request. The
// waiters ask again when there is room. An upgrade that the home granted before it heard that the
// bytes were given back is given back with them.
bool ChunkCache::give_back(NodeId from, ChunkId id, Copy& copy, const ChunkMessage& message) {
  mark(Mark::kGrantGivenBack);
  bool has_bytes = flag(message, wire::kDataFlag) || flag(message, wire::kBlankFlag);
  bool is_back = copy.given_back && !copy.pushed() && !has_bytes && from != outbox_.self();
  copy.given_back = !copy.pushed() && copy.asks();
  if (!is_back && (!copy.pushed() || flag(message, wire::kExclusiveFlag)))
    outbox_.send(home_of(id, view_),
                 {.kind = ChunkKind::kEvict, .chunk = id.value, .version = message.version});
  pump(id, copy);
  return true;
}

// A version that comes by subscription.
bool ChunkCache::updated(NodeId from, const ChunkMessage& message, Bytes tail) {
  ChunkId id{message.chunk};
  Copy* copy = copies_.find(id);
  if (!copy) return false;
  if (!copy->subscribed || copy->number != message.request) return true;  // it has ended
  if (!pushed_.updated(from, id, *copy, message, tail)) return false;
  pump(id, *copy);
  return true;
}

bool ChunkCache::credited(const ChunkMessage& message) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
  if (!copy || message.turn > kMaxWindow) return false;
  if (copy->state != State::kExclusive) return true;  // of a right that was given up
  copy->credit = std::min(copy->credit + message.turn, kMaxWindow);
  pump(ChunkId{message.chunk}, *copy);
  return true;
}

bool ChunkCache::refused(const ChunkMessage& message) {
  Copy* copy = copies_.find(ChunkId{message.chunk});
  if (copy && copy->gone) return true;
  const Copy::Pending* asked = copy ? copy->find_request(message.request) : nullptr;
  if (!asked) return false;
  ChunkId id{message.chunk};
  const Copy::Pending request = *asked;
  copy->given_back = false;
  for (auto& one : copy->pending)
    if (one && one->number == request.number) one.reset();
  if (flag(message, wire::kUnknownFlag)) {
    for (const Copy::Waiter& waiter : copy->waiters)
      outbox_.resume(waiter.waiter, Status::kUnknown, id);
    copy->waiters.clear();
  } else if (flag(message, wire::kWrittenFlag)) {
    pushed_.gone_over(id, *copy);
    std::erase_if(copy->waiters, [&](const Copy::Waiter& waiter) {
      if (waiter.mode == Mode::kRead) return false;
      outbox_.resume(waiter.waiter, Status::kWritten, id, message.turn);
      return true;
    });
  } else if (auto it = std::find_if(copy->waiters.begin(), copy->waiters.end(),
                                    [&](const auto& waiter) {
                                      return waiter.waiter == request.waiter &&
                                             waiter.wait == Wait::kTry;
                                    });
             request.tries && it != copy->waiters.end()) {
    mark(Mark::kOpenRefused);
    outbox_.resume(it->waiter, Status::kBusy, id);
    copy->waiters.erase(it);
  }
  if (!copy->has_bytes && !copy->pushed()) copies_.release(id, *copy);
  pump(id, *copy);
  wake_starved();
  return true;
}

void ChunkCache::wake_starved() {
  std::vector<std::uint64_t> now;
  now.swap(starved_);
  for (std::uint64_t chunk : now) pump(ChunkId{chunk}, *copies_.find(ChunkId{chunk}));
  work_.memory_freed();
}

void ChunkCache::unsubscribe(ChunkId chunk) {
  if (pushed_.unsubscribe(chunk)) wake_starved();
}

void ChunkCache::leave(WaiterId waiter) {
  leaving_.begin(waiter);
  for (auto& [id, copy] : copies_.all())
    if (copy.subscribed) unsubscribe(ChunkId{id});
  work_.leave();
}

// ---- Time

std::uint64_t ChunkCache::next_deadline_ns() const {
  std::uint64_t next = std::min(questions_.next_deadline_ns(), work_.next_deadline_ns());
  for (const auto& [id, copy] : copies_.all()) {
    for (const Copy::Waiter& waiter : copy.waiters) next = std::min(next, waiter.deadline_ns);
    for (const Copy::Taker& taker : copy.takers) next = std::min(next, taker.deadline_ns);
  }
  return next;
}

void ChunkCache::elapsed(std::uint64_t now_ns) {
  questions_.elapsed(now_ns);
  work_.elapsed(now_ns);
  for (auto& [id, copy] : copies_.all()) {
    std::erase_if(copy.takers, [&, chunk = ChunkId{id}](const Copy::Taker& taker) {
      if (taker.deadline_ns > now_ns) return false;
      outbox_.resume(taker.waiter, Status::kTimedOut, chunk);
      return true;
    });
    std::size_t before = copy.waiters.size();
    std::erase_if(copy.waiters, [&, chunk = ChunkId{id}](const Copy::Waiter& waiter) {
      if (waiter.deadline_ns > now_ns) return false;
      mark(Mark::kOpenTimedOut);
      outbox_.resume(waiter.waiter, Status::kTimedOut, chunk);
      return true;
    });
    if (copy.waiters.size() == before) continue;
    copy.cancel_if_unwanted(ChunkId{id}, home_of(ChunkId{id}, view_), outbox_);
    pump(ChunkId{id}, copy);
  }
}

void ChunkCache::check_invariants() const {
  copies_.check_invariants();
  work_.check_invariants();
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
