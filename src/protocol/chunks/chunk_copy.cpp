#include "protocol/chunks/chunk_copy.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using wire::RecallMode;

bool ChunkCopy::allows(Mode mode) const {
  if (pushed()) return allows_pushed(mode);
  if (blank && mode != Mode::kWrite && !mutant(Mutant::kBlankRead)) return false;
  if (mode == Mode::kRead) return state != State::kInvalid;
  return state == State::kExclusive || state == State::kModified;
}

bool ChunkCopy::allows_pushed(Mode mode) const {
  bool current = !held.empty() && held.back().version == version;
  if (mode == Mode::kRead) {
    if (held.empty() || held.back().version < seen) return false;
    if (state != State::kInvalid) return current;
    // A subscriber to a part is not sent all versions: the newest here may be long out of date.
    const Held& newest = held.back();
    return !newest.received() || newest.readers > 0 || hears_all();
  }
  return state == State::kExclusive && (mode == Mode::kWrite || current);
}

bool ChunkCopy::fits(Mode mode) const {
  if (pushed()) return fits_pushed(mode);
  if (mutant(Mutant::kWritersTogether)) return mode == Mode::kRead ? !writer : true;
  return !writer && (mode == Mode::kRead || readers == 0);
}

// A writing scope needs room for one more version: at the home, as far as this node knows, and
// here.
bool ChunkCopy::fits_pushed(Mode mode) const {
  if (mode == Mode::kRead) return true;
  auto written =
      std::count_if(held.begin(), held.end(), [](const Held& one) { return one.written; });
  bool room = credit > 0 || state != State::kExclusive;
  bool place = own_places() < kOwnPlaces || mutant(Mutant::kPlacesUncounted);
  return !writer && written < kWrittenPlaces && place &&
         (room || mutant(Mutant::kPublishWithoutCredit));
}

std::size_t ChunkCopy::own_places() const {
  auto own =
      std::count_if(held.begin(), held.end(), [](const Held& one) { return !one.received(); });
  for (const auto& request : pending) own += request && request->data;
  return static_cast<std::size_t>(own) + writer;
}

bool ChunkCopy::may_ask(Mode mode) const {
  bool one = !pushed() || mutant(Mutant::kReaderWaitsAlong);
  return one ? !asks() : !pending[asks_exclusive(mode)];
}

std::size_t ChunkCopy::next_to_ask() const {
  std::size_t all = waiters.size();
  std::size_t first = all;
  for (std::size_t at = 0; at < (pushed() ? all : std::min<std::size_t>(all, 1)); ++at) {
    Mode mode = waiters[at].mode;
    if (allows(mode) || !may_ask(mode)) continue;
    if (waiters[at].wait == Wait::kTry) return at;
    first = std::min(first, at);
  }
  return first;
}

ChunkCopy::Pending* ChunkCopy::find_request(std::uint32_t number) {
  for (auto& one : pending)
    if (one && one->number == number) return &*one;
  return nullptr;
}

// Readers of a pushed chunk may stay where it stays pushed.
bool ChunkCopy::can_go_over(Coherence to) const {
  if (writer || evicting) return false;
  if ((pushed() && to != Coherence::kInvalidate) || mutant(Mutant::kHintOpenScope)) return true;
  return readers == 0 &&
         std::all_of(held.begin(), held.end(), [](const Held& one) { return one.readers == 0; });
}

bool ChunkCopy::can_yield(const Due& recall) const {
  RecallMode mode = recall.mode;
  if (mode == RecallMode::kEnd) return can_go_over(recall.to);
  if (writer && !mutant(Mutant::kYieldOpenWrite)) return false;
  return mode != RecallMode::kDrop || readers == 0 || mutant(Mutant::kYieldOpenRead);
}

void ChunkCopy::keep(const Held& fresh) {
  auto at = std::upper_bound(held.begin(), held.end(), fresh,
                             [](const Held& a, const Held& b) { return a.version < b.version; });
  held.insert(at, fresh);
}

Place ChunkCopy::free_place(ChunkId id, const ChunkOutbox& outbox) const {
  Place place{0};
  auto taken = [&] {
    return outbox.leaving(id, place) || (writer && writing == place) ||
           (has_bytes && place == Place{}) ||
           std::any_of(held.begin(), held.end(),
                       [&](const Held& one) { return one.place == place; });
  };
  while (taken()) ++place.value;
  return place;
}

void ChunkCopy::end_tries_in_line(ChunkId id, ChunkOutbox& outbox) {
  for (std::size_t i = waiters.size(); i-- > 1;) {
    if (waiters[i].wait != Wait::kTry) continue;
    outbox.resume(waiters[i].waiter, Status::kBusy, id);
    waiters.erase(waiters.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void ChunkCopy::answer_subscriber(Status status, ChunkId id, ChunkOutbox& outbox) {
  if (!subscriber) return;
  if (status != Status::kOk) mark(Mark::kSubscribeEnds);
  outbox.resume(*subscriber, status, id);
  subscriber.reset();
}

void ChunkCopy::end_subscription(ChunkId id, ChunkOutbox& outbox) {
  answer_subscriber(Status::kMismatch, id, outbox);
  subscribed = false;
  at_home = 0;
  for (const Taker& taker : takers) outbox.resume(taker.waiter, Status::kNotSubscribed, id);
  takers.clear();
  outbox.notify(id, version);  // a polling thread finds that the subscription has ended
}

void ChunkCopy::check_pushed() const {
  std::uint32_t received = 0;
  for (const Held& one : held) received += one.received();
  TERRANE_CHECK(received + at_home <= window + 1 || !subscribed,
                "no more versions come than there is room for");
  TERRANE_CHECK((held.size() + writer + has_bytes) * bytes <= counted,
                "all that is held is counted");
  TERRANE_CHECK(!half || (held.empty() && !writer),
                "a node that has seen a new coherence knows that all have gone over to it");
  TERRANE_CHECK(!writer || gone || state == State::kExclusive, "a writer may write");
}

void ChunkCopy::check_invariants() const {
  if (pushed()) return check_pushed();
  if (gone) return;
  TERRANE_CHECK(!writer || state == State::kModified, "a writer may write");
  TERRANE_CHECK(!writer || readers == 0, "one writer or many readers");
  TERRANE_CHECK(readers == 0 || state != State::kInvalid, "a reader has a copy");
  TERRANE_CHECK(state == State::kInvalid || blank || has_bytes, "a copy has its bytes");
  TERRANE_CHECK(!due || writer || readers > 0 || evicting, "what is due waits for a scope");
}

void ChunkCopy::return_credit(ChunkId id, NodeId home, ChunkOutbox& outbox) {
  std::uint32_t received = 0;
  for (const Held& one : held) received += one.received();
  std::uint32_t used = received + at_home;
  std::uint32_t room = window + 1 > used ? window + 1 - used : 0;
  if (mutant(Mutant::kCreditTwice) && room > 0) ++room;
  if (room < std::max(1u, window / 2)) return;
  mark(Mark::kCreditReturned);
  at_home += room;
  ChunkMessage message{.kind = ChunkKind::kCredit, .flags = wire::kSubscriberFlag};
  message.chunk = id.value;
  message.request = number;
  message.turn = room;
  outbox.send(home, message);
}

void ChunkCopy::send_subscription(ChunkId id, NodeId home, ChunkOutbox& outbox) const {
  ChunkMessage message{.kind = ChunkKind::kSubscribe, .chunk = id.value};
  message.flags = block ? wire::kBlockFlag : 0;
  message.version = range.offset;
  message.bytes = range.bytes;
  message.request = number;
  message.turn = at_home;
  outbox.send(home, message);
}

void ChunkCopy::serve_takers(ChunkId id, ChunkOutbox& outbox) {
  for (Held& one : held) {
    if (takers.empty()) return;
    if (!one.fresh) continue;
    one.fresh = false;
    ++one.readers;
    std::uint32_t missed = one.missed;
    if (missed > 0) mark(Mark::kVersionsMissed);
    if (mutant(Mutant::kMissedUncounted)) missed = 0;
    taken = one.version;
    seen = std::max(seen, one.version);
    outbox.resume(takers.front().waiter, Status::kOk, id, one.version, one.place, missed,
                  one.changed);
    takers.pop_front();
  }
}

void ChunkCopy::cancel_if_unwanted(ChunkId id, NodeId home, ChunkOutbox& outbox) {
  if (!waiters.empty()) return;
  for (auto& request : pending) {
    if (!request || request->cancelled) continue;
    mark(Mark::kRequestCancelled);
    request->cancelled = true;
    ChunkMessage message{.kind = ChunkKind::kCancel, .chunk = id.value};
    message.request = request->number;
    outbox.send(home, message);
  }
}

bool ChunkCopy::is_evictable(bool awaits_home) const {
  if ((awaits_home && !mutant(Mutant::kDropBeforeServing)) || works()) return false;
  if (pushed()) {
    bool used = subscribed || writer || asks() || due || !waiters.empty();
    for (const Held& one : held) used |= one.readers > 0;
    return counted > 0 && !used;
  }
  if (mutant(Mutant::kEvictOpenCopy)) return has_bytes && !asks() && !writer;
  return (has_bytes || blank) && !asks() && !due && !writer && readers == 0 && waiters.empty() &&
         !evicting;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
