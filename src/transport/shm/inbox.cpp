#include "transport/shm/inbox.h"

#include <limits>

namespace terrane::transport::shm {
namespace {

// Of one sender in one poll, so that none keeps the others waiting.
constexpr std::uint64_t kFramesAVisit = 64;
// A watched ring that was silent for so many rounds gives its place to one that was not.
constexpr std::uint32_t kIdleRounds = 1024;

}  // namespace

Inbox::Inbox(const Area& own, std::uint32_t nodes)
    : control_(own.control()), doorbell_(own.doorbell()), nodes_(nodes) {}

void Inbox::add(RingView ring, Doorbell sender) { sources_.emplace_back(ring, sender); }

bool Inbox::pending() const {
  for (const Watch& watch : watches_) {
    const auto* next = watch.next.load();
    if (next == nullptr) break;
    if (next->load() != 0) return true;
  }
  return control_.arrivals.any(nodes_);
}

std::size_t Inbox::deliver(Receiver& receiver) {
  std::size_t messages = deliver_watched(receiver);
  control_.arrivals.for_each(nodes_, [&](NodeId from) {
    control_.arrivals.clear(from);
    Drained drained = drain(from, receiver, kFramesAVisit);
    messages += drained.messages;
    if (!drained.to_the_end) remind(from);
    if (drained.messages != 0 && sources_[from.value].control->watched.load() == 0) watch(from);
  });
  return messages;
}

std::size_t Inbox::deliver_watched(Receiver& receiver) {
  std::size_t messages = 0;
  for (Watch& watch : watches_) {
    const auto* next = watch.next.load(std::memory_order_relaxed);
    if (next == nullptr) break;
    if (next->load(std::memory_order_relaxed) == 0) {
      ++watch.idle_rounds;
      continue;
    }
    watch.idle_rounds = 0;
    messages += drain(watch.from, receiver, kFramesAVisit).messages;
    const Source& source = sources_[watch.from.value];
    if (!source.closed) watch.next.store(source.reader.next_control());
  }
  return messages;
}

Inbox::Drained Inbox::drain(NodeId from, Receiver& receiver, std::uint64_t most_frames) {
  Source& source = sources_[from.value];
  Drained drained;
  for (std::uint64_t frame = 0; frame < most_frames && !drained.to_the_end; ++frame) {
    if (source.closed) return {drained.messages, true};
    switch (source.reader.look()) {
      case RingReader::Found::kNothing:
        drained.to_the_end = true;
        break;
      case RingReader::Found::kPart:
        break;
      case RingReader::Found::kMessage:
        receiver.received(from, source.reader.message());
        source.reader.done();
        ++drained.messages;
        break;
      case RingReader::Found::kBroken:
        close(from);
        broken_.push_back(from);
        break;
    }
  }
  source.reader.free_space();
  return drained;
}

std::size_t Inbox::deliver_last(NodeId from, Receiver& receiver) {
  std::size_t messages = drain(from, receiver, std::numeric_limits<std::uint64_t>::max()).messages;
  close(from);
  return messages;
}

void Inbox::close(NodeId from) {
  Source& source = sources_[from.value];
  source.closed = true;
  source.reader.drop_partial();
  for (Watch& watch : watches_) {
    if (watch.from != from) continue;
    watch.next.store(&silence_);
    watch.idle_rounds = kIdleRounds;
  }
}

void Inbox::watch(NodeId from) {
  for (Watch& watch : watches_) {
    if (watch.next.load() != nullptr && watch.idle_rounds < kIdleRounds) continue;
    if (watch.next.load() != nullptr) unwatch(watch);
    Source& source = sources_[from.value];
    watch.from = from;
    watch.idle_rounds = 0;
    watch.next.store(source.reader.next_control());
    source.control->watched.store(1);
    return;
  }
}

// The sender sets its bit again from now on; what it sent just before must not be forgotten.
void Inbox::unwatch(Watch& watch) {
  Source& source = sources_[watch.from.value];
  source.control->watched.store(0);
  if (watch.next.load()->load() != 0) remind(watch.from);
}

// Another thread may have seen nothing to do in the meantime, and gone to sleep.
void Inbox::remind(NodeId from) {
  control_.arrivals.set(from);
  wake_owner(doorbell_);
}

}  // namespace terrane::transport::shm
