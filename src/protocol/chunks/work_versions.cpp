// The client of a node for work streams: versions that it writes, and versions that it takes.
#include <algorithm>

#include "protocol/chunks/work_client.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

using Room = WorkBudget::Room;

// ---- Writing

void WorkClient::write(const WorkWrite& event) {
  ChunkId id = event.chunk;
  Stream* stream = find(id);
  if (stream == nullptr || stream->gone) {
    outbox_.resume(event.waiter, Status::kUnknown, id);
    return;
  }
  bool home_known = stream->home != kNoNode;
  if (event.wait == Wait::kTry && !home_known) {
    mark(WorkMark::kWriteBusy);
    outbox_.resume(event.waiter, Status::kBusy, id);
  } else {
    stream->writers.push_back({event.waiter, event.wait, event.deadline_ns});
  }
  if (!home_known) return seek_home(id, *stream, false);
  pump_writers(id, *stream);
}

void WorkClient::refuse_writers(ChunkId id, Stream& stream, Status status, std::uint64_t version) {
  for (const Stream::Waiter& one : stream.writers) outbox_.resume(one.waiter, status, id, version);
  stream.writers.clear();
}

// Opens versions for the waiting threads, or resumes them with the reason why not.
void WorkClient::pump_writers(ChunkId id, Stream& stream) {
  if (stream.gone) return refuse_writers(id, stream, Status::kUnknown);
  if (stream.home == kNoNode) return;
  if (stream.writer == Stream::Writer::kNo && !stream.writers.empty() && !stream.stopped) {
    stream.writer = Stream::Writer::kAsks;
    send_shape(id, stream, {.kind = ChunkKind::kWorkWriter});
  }
  if (stream.stopped) {
    if (!stream.writers.empty()) mark(WorkMark::kWriteFindsEnd);
    refuse_writers(id, stream, Status::kEnded);
  } else if (stream.no_taker != kNoNode) {
    if (!stream.writers.empty()) mark(WorkMark::kWriteFindsNoTaker);
    refuse_writers(id, stream, Status::kDied, stream.no_taker.value);
  } else if (stream.writer == Stream::Writer::kYes) {
    while (!stream.writers.empty() && open(id, stream)) {
    }
    std::erase_if(stream.writers, [&](const Stream::Waiter& one) {
      if (one.wait != Wait::kTry) return false;
      mark(WorkMark::kWriteBusy);
      outbox_.resume(one.waiter, Status::kBusy, id);
      return true;
    });
    if (!stream.writers.empty()) mark(WorkMark::kWriteWaits);
  }
  bool learns = stream.stopped || stream.no_taker != kNoNode;
  if (learns || (stream.writers.empty() && stream.may_write())) outbox_.notify_writable(id);
}

// Opens a version for the first waiting thread. False: the thread continues to wait.
bool WorkClient::open(ChunkId id, Stream& stream) {
  if (!stream.may_write()) return false;
  WaiterId waiter = stream.writers.front().waiter;
  Room room = is_here(stream) ? Room::kThere : budget_.reserve(id, stream.bytes);
  if (room == Room::kSoon) {
    if (std::find(starved_.begin(), starved_.end(), id.value) == starved_.end())
      starved_.push_back(id.value);
    return false;
  }
  stream.writers.pop_front();
  if (room == Room::kNone) {
    outbox_.resume(waiter, Status::kNoMemory, id);
    return true;
  }
  stream.credit -= work_cost(stream.bytes, stream.bytes);
  Place place = free_place(id, stream);
  stream.writing.push_back(place);
  outbox_.provide(id, stream.bytes, place);
  outbox_.resume(waiter, Status::kOk, id, 0, place);
  return true;
}

// The version at this place is not open any more.
void WorkClient::close(ChunkId id, Stream& stream, Place place) {
  std::erase(stream.writing, place);
  outbox_.discard(id, place);
  if (!is_here(stream)) budget_.give_back(id, stream.bytes);
}

void WorkClient::publish(const WorkPublish& event) {
  ChunkId id = event.chunk;
  Stream* stream = find(id);
  if (stream == nullptr) return;
  if (stream->gone || stream->stopped) {
    mark(WorkMark::kPublishAfterEnd);
    return release({id, event.place});
  }
  std::uint32_t number = ++stream->puts;
  std::vector<Stream::Source>& sources = stream->put[number];
  for (const WorkSource& source : event.sources) {
    Stream* other = find(source.chunk);
    // A version of the same stream does not count: it might have to be done before its own credit
    // returns.
    if (other == nullptr || other == stream || other->gone) continue;
    for (Stream::Taken& taken : other->taken) {
      if (taken.use != Stream::Use::kOpen || taken.place != source.place) continue;
      ++taken.results;
      sources.push_back({source.chunk.value, taken.version, taken.subscription});
    }
  }
  ChunkMessage message{.kind = ChunkKind::kWorkPut, .chunk = id.value};
  if (!sources.empty()) {
    mark(WorkMark::kPublishDepends);
    message.flags = wire::kDependsFlag;
  }
  message.seen = event.tag;
  message.bytes = event.bytes;
  message.request = number;
  outbox_.send_data(stream->home, message, event.place, event.bytes);
  stream->credit += work_cost(stream->bytes, stream->bytes) - work_cost(event.bytes, stream->bytes);
  close(id, *stream, event.place);
  pump_writers(id, *stream);
  memory_freed();
}

bool WorkClient::settled(ChunkId id, Stream& stream, const ChunkMessage& message, Bytes tail) {
  std::vector<std::uint32_t> done;
  if (!numbers_of(tail, done) || message.bytes > stream.shape.capacity) return false;
  if (flag(message, wire::kFullFlag)) {
    stream.writer = Stream::Writer::kNo;
    refuse_writers(id, stream, Status::kNoMemory);
    return true;
  }
  stream.writer = Stream::Writer::kYes;
  stream.credit += message.bytes;
  for (std::uint32_t number : done) {
    auto at = stream.put.find(number);
    if (at == stream.put.end()) return false;
    std::vector<Stream::Source> sources = std::move(at->second);
    stream.put.erase(at);
    forget_put(sources);
  }
  pump_writers(id, stream);
  return true;
}

// A version that was made from these is done.
void WorkClient::forget_put(const std::vector<Stream::Source>& sources) {
  for (const Stream::Source& source : sources) {
    Stream& stream = streams_[source.chunk];
    auto at = std::find_if(stream.taken.begin(), stream.taken.end(), [&](const auto& taken) {
      return taken.version == source.version && taken.subscription == source.subscription;
    });
    if (at == stream.taken.end()) continue;
    --at->results;
    if (at->use != Stream::Use::kClosed || at->results > 0) continue;
    Stream::Taken taken = *at;
    stream.taken.erase(at);
    finish(ChunkId{source.chunk}, stream, taken);
  }
}

// ---- Taking

void WorkClient::subscribe(const WorkSubscribe& event) {
  ChunkId id = event.chunk;
  Stream* stream = find(id);
  Status status = Status::kOk;
  if (stream == nullptr || stream->gone) {
    status = Status::kUnknown;
  } else if (stream->subscribed || stream->subscriber) {
    status = Status::kMismatch;
  } else if (stream->drained) {
    status = Status::kEnded;
  }
  if (status != Status::kOk) {
    outbox_.resume(event.waiter, status, id);
    return;
  }
  stream->window = event.credit;
  stream->subscriber = event.waiter;
  if (stream->home == kNoNode) return seek_home(id, *stream, true);
  send_subscription(id, *stream);
}

void WorkClient::send_subscription(ChunkId id, Stream& stream) {
  bool fits = is_here(stream) || budget_.reserve(id, stream.window) == Room::kThere;
  if (!fits) {
    outbox_.resume(*stream.subscriber, Status::kNoMemory, id);
    stream.subscriber.reset();
    return;
  }
  if (!is_here(stream)) stream.reserved += stream.window;
  stream.number = next_number_++;
  ChunkMessage message{.kind = ChunkKind::kWorkSubscribe, .version = stream.window};
  message.request = stream.number;
  send_shape(id, stream, message);
}

bool WorkClient::subscribed(ChunkId id, Stream& stream, const ChunkMessage& message) {
  if (!stream.subscriber || message.request != stream.number) return false;
  Status status = Status::kOk;
  if (flag(message, wire::kEndedFlag)) {
    status = Status::kEnded;
    stream.drained = true;
  } else if (flag(message, wire::kFullFlag)) {
    status = Status::kMismatch;
  }
  stream.subscribed = status == Status::kOk;
  if (!stream.subscribed) shrink(id, stream);
  outbox_.resume(*stream.subscriber, status, id);
  stream.subscriber.reset();
  return true;
}

// Gives back what was reserved and is not needed any more.
void WorkClient::shrink(ChunkId id, Stream& stream) {
  std::uint64_t needed = stream.subscribed ? stream.window : 0;
  for (const Stream::Taken& taken : stream.taken)
    if (!stream.subscribed || taken.subscription != stream.number)
      if (taken.use == Stream::Use::kOpen) needed += taken.what.bytes;
  if (needed >= stream.reserved) return;
  std::uint64_t less = stream.reserved - needed;
  stream.reserved = needed;
  budget_.give_back(id, less);
}

void WorkClient::unsubscribe(ChunkId id) {
  Stream* stream = find(id);
  if (stream == nullptr || !stream->subscribed) return;
  mark(WorkMark::kUnsubscribed);
  tell_done(id, *stream);
  stream->subscribed = false;
  std::vector<std::uint64_t> keeps;
  std::erase_if(stream->taken, [&](const Stream::Taken& taken) {
    if (taken.use == Stream::Use::kFresh) {
      outbox_.discard(id, taken.place);
      return true;
    }
    mark(WorkMark::kUnsubscribedKeeps);
    keeps.push_back(taken.version);
    return false;
  });
  end_takers(id, *stream, Status::kNotSubscribed);
  outbox_.send(stream->home, {.kind = ChunkKind::kWorkUnsubscribe, .chunk = id.value},
               bytes_of(keeps));
  shrink(id, *stream);
  memory_freed();
}

bool WorkClient::given(NodeId from, ChunkId id, Stream& stream, const ChunkMessage& message,
                       Bytes tail) {
  if (!stream.subscribed || message.request != stream.number) {
    mark(WorkMark::kGiveAfterUnsubscribe);  // the home takes the version back when it hears of that
    return true;
  }
  bool own = from == outbox_.self();
  if (message.bytes > stream.bytes || (own ? !tail.empty() : tail.size() < message.bytes))
    return false;
  Stream::Taken taken{.version = message.version};
  taken.place = free_place(id, stream);
  taken.what = {.tag = message.seen,
                .bytes = message.bytes,
                .writer = NodeId{message.turn},
                .again = flag(message, wire::kAgainFlag)};
  taken.subscription = stream.number;
  outbox_.provide(id, message.bytes, taken.place);
  outbox_.install(from, id, tail, taken.place);
  stream.taken.push_back(taken);
  if (stream.takers.empty()) outbox_.notify(id, message.version);
  serve_takers(id, stream);
  return true;
}

void WorkClient::take(const WorkTake& event) {
  ChunkId id = event.chunk;
  Stream* stream = find(id);
  if (stream == nullptr || stream->gone || !stream->subscribed) {
    Status status = stream == nullptr || stream->gone ? Status::kUnknown
                    : stream->drained                 ? Status::kEnded
                                                      : Status::kNotSubscribed;
    outbox_.resume(event.waiter, status, id);
    return;
  }
  stream->takers.push_back({event.waiter, event.wait, event.deadline_ns});
  serve_takers(id, *stream);
  if (stream->drained) return end_takers(id, *stream, Status::kEnded);
  bool waits = !stream->takers.empty() && stream->takers.back().waiter == event.waiter;
  if (!waits) return;
  mark(event.wait == Wait::kTry ? WorkMark::kTakeBusy : WorkMark::kTakeAwaits);
  tell_released(id, *stream);
  if (event.wait != Wait::kTry) return;
  stream->takers.pop_back();
  outbox_.resume(event.waiter, Status::kBusy, id);
}

void WorkClient::serve_takers(ChunkId id, Stream& stream) {
  for (Stream::Taken& taken : stream.taken) {
    if (stream.takers.empty()) return;
    if (taken.use != Stream::Use::kFresh) continue;
    taken.use = Stream::Use::kOpen;
    outbox_.resume(stream.takers.front().waiter, id, taken.version, taken.place, taken.what);
    stream.takers.pop_front();
  }
}

void WorkClient::end_takers(ChunkId id, Stream& stream, Status status) {
  for (const Stream::Waiter& one : stream.takers) outbox_.resume(one.waiter, status, id);
  stream.takers.clear();
}

void WorkClient::release(const WorkRelease& event) {
  ChunkId id = event.chunk;
  Stream* stream = find(id);
  if (stream == nullptr) return;
  if (std::find(stream->writing.begin(), stream->writing.end(), event.place) !=
      stream->writing.end()) {
    mark(WorkMark::kGivenUp);
    stream->credit += work_cost(stream->bytes, stream->bytes);
    close(id, *stream, event.place);
    pump_writers(id, *stream);
    return memory_freed();
  }
  auto at = std::find_if(stream->taken.begin(), stream->taken.end(), [&](const auto& taken) {
    return taken.use == Stream::Use::kOpen && taken.place == event.place;
  });
  if (at == stream->taken.end()) return;
  outbox_.discard(id, at->place);
  at->use = Stream::Use::kClosed;
  if (at->results > 0 && !mutant(WorkMutant::kDoneBeforeResult)) {
    mark(WorkMark::kDoneAwaitsResult);
    if (!stream->takers.empty()) tell_released(id, *stream);
  } else {
    Stream::Taken taken = *at;
    stream->taken.erase(at);
    finish(id, *stream, taken);
  }
  shrink(id, *stream);
  memory_freed();
}

// The version is done: its scope has ended, and all versions made from it are done.
void WorkClient::finish(ChunkId id, Stream& stream, const Stream::Taken& taken) {
  if (stream.gone) return;
  stream.done.push_back(taken.version);
  if (taken.subscription == stream.number && !taken.released)
    stream.done_bytes += work_cost(taken.what.bytes, stream.bytes);
  bool more =
      stream.subscribed && std::any_of(stream.taken.begin(), stream.taken.end(),
                                       [](const auto& t) { return t.use == Stream::Use::kFresh; });
  if (more && stream.done_bytes < stream.window / 2) {
    mark(WorkMark::kDoneBatched);
    return;
  }
  tell_done(id, stream);
}

// A thread waits for a version. That version may wait for the credit of versions whose scopes have
// ended, but whose results are not done.
void WorkClient::tell_released(ChunkId id, Stream& stream) {
  std::vector<std::uint64_t> versions;
  for (Stream::Taken& taken : stream.taken) {
    if (taken.use != Stream::Use::kClosed || taken.released) continue;
    taken.released = true;
    versions.push_back(taken.version);
  }
  if (versions.empty() || !stream.subscribed) return;
  mark(WorkMark::kReleasedBeforeDone);
  outbox_.send(stream.home, {.kind = ChunkKind::kWorkReleased, .chunk = id.value},
               bytes_of(versions));
}

void WorkClient::tell_done(ChunkId id, Stream& stream) {
  if (stream.done.empty()) return;
  mark(WorkMark::kDoneSent);
  outbox_.send(stream.home, {.kind = ChunkKind::kWorkDone, .chunk = id.value},
               bytes_of(stream.done));
  stream.done.clear();
  stream.done_bytes = 0;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
