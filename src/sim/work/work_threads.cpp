// The threads of a simulated pipeline, and what must hold.
#include <algorithm>

#include "sim/work/work_history.h"

namespace terrane::sim {

using chunks::Status;

namespace {

std::uint64_t word_of(std::uint64_t tag, std::uint32_t stream, std::uint64_t at) {
  return (tag + 1) << 16 | stream << 8 | at;
}

}  // namespace

void WorkHistory::finish(std::uint32_t t) {
  threads_[t].doing = Doing::kOver;
  schedule_.park(static_cast<ActorId>(t));
}

void WorkHistory::wait(std::uint32_t t, Doing doing, const chunks::Event& event) {
  threads_[t].doing = doing;
  threads_[t].waits = true;
  schedule_.park(static_cast<ActorId>(t));
  step(threads_[t].node, event);
}

std::uint64_t WorkHistory::deadline(Thread& thread) {
  thread.timed = rng_.chance(10);
  return thread.timed ? nodes_[thread.node].now_ns + 1 + rng_.below(20) : chunks::kNever;
}

void WorkHistory::act(std::uint32_t t) {
  Thread& thread = threads_[t];
  if (thread.doing == Doing::kOver) return finish(t);
  note(t << 8 | static_cast<std::uint32_t>(thread.doing));
  protocol::WaiterId waiter{t};
  if (thread.doing == Doing::kCreatesFrames)
    return wait(
        t, Doing::kCreatesFrames,
        chunks::Create{"frames", 8 * kWords, chunks::Coherence::kWork, waiter, shapes_[kFrames]});
  if (thread.doing == Doing::kCreatesResults)
    return wait(
        t, Doing::kCreatesResults,
        chunks::Create{"results", 8 * kWords, chunks::Coherence::kWork, waiter, shapes_[kResults]});
  switch (thread.role) {
    case Role::kSource:
      return act_source(t);
    case Role::kEnder:
      if (putting_ > 0 && !early_)
        return schedule_.park(static_cast<ActorId>(t));  // source_over() wakes it
      return wait(t, Doing::kEnds, chunks::WorkEnd{thread.id[kFrames], waiter});
    case Role::kWorker:
      return act_worker(t);
    case Role::kSink:
      return act_sink(t);
  }
}

// A source has ended. The ender then looks whether it was the last one.
void WorkHistory::source_over() {
  --putting_;
  for (std::uint32_t t = 0; t < threads_.size(); ++t)
    if (threads_[t].role == Role::kEnder && !threads_[t].waits &&
        threads_[t].doing != Doing::kOver && nodes_[threads_[t].node].alive)
      schedule_.ready(static_cast<ActorId>(t));
}

void WorkHistory::act_source(std::uint32_t t) {
  Thread& thread = threads_[t];
  protocol::WaiterId waiter{t};
  if (thread.writes) {
    thread.writes = false;
    if (rng_.chance(10))
      return step(thread.node, chunks::WorkRelease{thread.id[kFrames], thread.writing});
    ++thread.count;
    std::uint64_t tag = next_tag_++;
    // A version that is open when its node hears of the end is discarded.
    const auto* stream = nodes_[thread.node].machine->cache().work().stream(thread.id[kFrames]);
    if (!stream->stopped && !stream->gone) put_.insert(tag);
    return put(t, kFrames, tag);
  }
  if (thread.count >= thread.quota) {
    source_over();
    return finish(t);
  }
  auto how = rng_.chance(15) ? chunks::Wait::kTry : chunks::Wait::kBlock;
  wait(t, Doing::kWrites, chunks::WorkWrite{thread.id[kFrames], how, deadline(thread), waiter});
}

void WorkHistory::put(std::uint32_t t, std::uint32_t stream, std::uint64_t tag) {
  Thread& thread = threads_[t];
  std::uint64_t words = tag % (kWords + 1);
  if (trace_)
    trace_->add(schedule_.picks(), "node {} thread {}: puts tag {} into stream {}", thread.node, t,
                tag, stream);
  auto& memory = this->memory(thread.node, thread.id[stream], thread.writing);
  for (std::uint64_t w = 0; w < words; ++w) memory[w] = word_of(tag, stream, w);
  std::vector<chunks::WorkSource> sources;
  for (const Open& open : thread.open) sources.push_back({thread.id[kFrames], open.place});
  step(thread.node,
       chunks::WorkPublish{thread.id[stream], thread.writing, 8 * words, tag, sources});
}

void WorkHistory::release(std::uint32_t t, std::uint32_t stream, std::size_t which) {
  Thread& thread = threads_[t];
  Open open = thread.open[which];
  thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(which));
  const auto& memory = this->memory(thread.node, thread.id[stream], open.place);
  for (std::uint64_t w = 0; w < open.words; ++w)
    if (memory[w] != word_of(open.tag, stream, w))
      violated(Fault::kWrongValue, "thread {} sees {:x} in version {} of stream {}", t, memory[w],
               open.tag, stream);
  if (trace_)
    trace_->add(schedule_.picks(), "node {} thread {}: releases tag {} of stream {}", thread.node,
                t, open.tag, stream);
  if (stream == kFrames) held_.erase(open.tag);
  if (stream == kResults) shown_.insert(open.tag);
  step(thread.node, chunks::WorkRelease{thread.id[stream], open.place});
}

void WorkHistory::act_worker(std::uint32_t t) {
  Thread& thread = threads_[t];
  protocol::WaiterId waiter{t};
  if (thread.writes) {
    thread.writes = false;
    put(t, kResults, thread.open.front().tag);
    thread.doing = Doing::kFills;
    return;
  }
  if (thread.doing == Doing::kFills) {  // the result has been put
    thread.doing = Doing::kTakes;
    return release(t, kFrames, 0);
  }
  if (thread.doing == Doing::kEnds)
    return wait(t, Doing::kEnds, chunks::WorkEnd{thread.id[kResults], waiter});
  if (!thread.open.empty())
    return wait(
        t, Doing::kWrites,
        chunks::WorkWrite{thread.id[kResults], chunks::Wait::kBlock, deadline(thread), waiter});
  if (thread.quota > 0 && thread.count >= thread.quota) {
    step(thread.node, chunks::WorkUnsubscribe{thread.id[kFrames]});
    return finish(t);
  }
  if (thread.doing == Doing::kSubscribes)
    return wait(t, Doing::kSubscribes,
                chunks::WorkSubscribe{thread.id[kFrames], 8 * kWords * credit_, waiter});
  auto how = rng_.chance(15) ? chunks::Wait::kTry : chunks::Wait::kBlock;
  wait(t, Doing::kTakes, chunks::WorkTake{thread.id[kFrames], how, deadline(thread), waiter});
}

// Holds some results for a while, but never waits while it holds one.
void WorkHistory::act_sink(std::uint32_t t) {
  Thread& thread = threads_[t];
  protocol::WaiterId waiter{t};
  if (thread.doing == Doing::kSubscribes)
    return wait(t, Doing::kSubscribes,
                chunks::WorkSubscribe{thread.id[kResults], 8 * kWords * credit_, waiter});
  bool must = thread.doing == Doing::kFills;  // no other result could be taken
  thread.doing = Doing::kTakes;
  if (!thread.open.empty() && (must || rng_.chance(60)))
    return release(t, kResults, rng_.below(static_cast<std::uint32_t>(thread.open.size())));
  auto how = thread.open.empty() ? chunks::Wait::kBlock : chunks::Wait::kTry;
  wait(t, Doing::kTakes, chunks::WorkTake{thread.id[kResults], how, deadline(thread), waiter});
}

// ---- Answers

void WorkHistory::resume(std::uint32_t n, const chunks::Resume& resume) {
  std::uint32_t t = resume.waiter.value;
  if (t >= threads_.size() || threads_[t].node != n || !threads_[t].waits)
    violated(Fault::kBadAnswer, "node {} resumes thread {}, which does not wait", n, t);
  Thread& thread = threads_[t];
  thread.waits = false;
  schedule_.ready(static_cast<ActorId>(t));
  if (trace_)
    trace_->add(schedule_.picks(), "node {} thread {}: in {} is answered {}, version {} tag {}", n,
                t, static_cast<int>(thread.doing), static_cast<int>(resume.status), resume.version,
                resume.work.tag);
  note(t << 8 | static_cast<std::uint32_t>(resume.status));
  Status status = resume.status;
  if (status == Status::kUnknown) {
    if (!lost_)
      violated(Fault::kBadAnswer, "thread {} is told that a stream is gone, whose home lives", t);
    if (thread.role == Role::kSource) source_over();
    return finish(t);
  }
  switch (thread.doing) {
    case Doing::kCreatesFrames:
    case Doing::kCreatesResults: {
      if (status != Status::kOk && status != Status::kExisted)
        violated(Fault::kBadAnswer, "thread {} cannot create a stream: {}", t,
                 static_cast<int>(status));
      bool frames = thread.doing == Doing::kCreatesFrames;
      chunks::ChunkId& id = ids_[frames ? kFrames : kResults];
      bool known = false;
      for (const Node& node : nodes_)
        if (const auto* stream = node.machine->cache().work().stream(id); stream != nullptr)
          known |= node.alive && !stream->gone;
      if (known && id != resume.chunk && !lost_)
        violated(Fault::kBadAnswer, "a stream is two streams");
      id = thread.id[frames ? kFrames : kResults] = resume.chunk;
      thread.doing = frames ? Doing::kCreatesResults : Doing::kSubscribes;
      if (!frames && thread.role == Role::kSource) thread.doing = Doing::kWrites;
      return;
    }
    case Doing::kSubscribes:
      if (status == Status::kEnded && thread.role == Role::kWorker) {
        check_ended(t);
        thread.doing = Doing::kEnds;
      } else if (status == Status::kEnded) {
        finish(t);
      } else if (status == Status::kOk || status == Status::kMismatch) {  // another thread has
        thread.doing = Doing::kTakes;
      } else {
        violated(Fault::kBadAnswer, "thread {} cannot subscribe: {}", t, static_cast<int>(status));
      }
      return;
    case Doing::kWrites:
      return resume_write(t, resume);
    case Doing::kTakes:
      return resume_taken(t, resume);
    case Doing::kEnds:
      return finish(t);
    default:
      violated(Fault::kBadAnswer, "thread {} is answered what it has not asked", t);
  }
}

// The answer to a thread that has asked for room.
void WorkHistory::resume_write(std::uint32_t t, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  Status status = resume.status;
  if (status == Status::kBusy || (status == Status::kTimedOut && thread.timed)) return;
  if (status == Status::kOk) {
    thread.writes = true;
    thread.writing = resume.place;
  } else if (status == Status::kDied && outcome_.deaths > 0) {
    given_up_ = true;
    thread.quota = thread.count;
    if (thread.role == Role::kWorker) finish(t);  // no subscriber takes its results
  } else if (status == Status::kEnded && thread.role == Role::kSource && early_) {
    thread.quota = thread.count;
  } else if (status == Status::kEnded && lost_) {  // a worker of the lost stream has ended it
    thread.quota = thread.count;
    if (thread.role == Role::kWorker) finish(t);
  } else {
    violated(Fault::kBadAnswer, "thread {} cannot write: {}", t, static_cast<int>(status));
  }
}

void WorkHistory::resume_taken(std::uint32_t t, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  Status status = resume.status;
  if (status == Status::kOk) return took(t, resume);
  if (status == Status::kBusy && !thread.open.empty()) {
    thread.doing = Doing::kFills;
    return;
  }
  if (status == Status::kBusy || (status == Status::kTimedOut && thread.timed)) return;
  if (status == Status::kNotSubscribed) {  // another thread of the node ended the subscription, or
                                           // will begin it
    thread.doing = Doing::kSubscribes;
    return;
  }
  if (status != Status::kEnded)
    violated(Fault::kBadAnswer, "thread {} cannot take: {}", t, static_cast<int>(status));
  if (thread.role == Role::kSink) return finish(t);
  check_ended(t);
  thread.doing = Doing::kEnds;
}

// The end is right: the sink has released all results. Where a worker has died, a frame may have
// two results of one tag. Then the second one is done when the sink has released the first.
void WorkHistory::check_ended(std::uint32_t t) const {
  if (lost_) return;
  for (std::uint64_t tag : put_)
    if (!shown_.contains(tag))
      violated(Fault::kWrongValue, "thread {} hears of the end, and frame {} is not done", t, tag);
}

// The home of the frames discards one when it is done: its result has been released by the sink,
// also where it had two results. An empty frame does not show its tag.
void WorkHistory::check_discarded(std::uint32_t n, const chunks::Discard& discard) {
  if (lost_ || discard.chunk != ids_[kFrames] || discard.place.value < chunks::kHomePlaces) return;
  std::uint64_t word = memory(n, discard.chunk, discard.place)[0];
  std::uint64_t tag = (word >> 16) - 1;
  bool known = put_.contains(tag) && word == word_of(tag, kFrames, 0);
  if (known && !shown_.contains(tag))
    violated(Fault::kWrongValue, "frame {} counts as done, and its result is not", tag);
}

void WorkHistory::took(std::uint32_t t, const chunks::Resume& resume) {
  Thread& thread = threads_[t];
  ++outcome_.versions;
  std::uint32_t stream = thread.role == Role::kSink ? kResults : kFrames;
  std::uint64_t tag = resume.work.tag;
  std::uint64_t words = tag % (kWords + 1);
  if (!put_.contains(tag) || resume.work.bytes != 8 * words)
    violated(Fault::kWrongValue, "thread {} takes tag {} with {} bytes", t, tag, resume.work.bytes);
  const auto& memory = this->memory(thread.node, thread.id[stream], resume.place);
  for (std::uint64_t w = 0; w < words; ++w)
    if (memory[w] != word_of(tag, stream, w))
      violated(Fault::kWrongValue, "thread {} takes tag {} of stream {} and sees {:x}", t, tag,
               stream, memory[w]);
  thread.open.push_back({tag, resume.place, words});
  ++thread.count;
  if (stream == kFrames) {
    if (held_.contains(tag))
      violated(Fault::kTwoHolders, "threads {} and {} have frame {}", held_[tag], t, tag);
    held_[tag] = t;
  } else if (shapes_[kResults].in_order && tag != taken_results_ && !lost_) {
    violated(Fault::kWrongValue,
             "thread {} takes result {} again, or before its turn; {} were "
             "taken",
             t, tag, taken_results_);
  }
  if (stream == kResults) ++taken_results_;
}

// All threads have ended, unless something has died that they cannot do without.
void WorkHistory::finish_check() const {
  if (lost_ || given_up_) return;
  bool worker = false, ender = false;
  for (const Thread& thread : threads_) {
    bool lives = nodes_[thread.node].alive;
    worker |= lives && thread.role == Role::kWorker && thread.quota == 0;
    ender |= lives && thread.role == Role::kEnder;
  }
  std::string waiting;
  for (std::uint32_t t = 0; t < threads_.size(); ++t) {
    const Thread& thread = threads_[t];
    if (!nodes_[thread.node].alive || thread.doing == Doing::kOver) continue;
    bool source = thread.role == Role::kSource;
    // Without a worker or an ender, only sources must get an answer, if they wait for room.
    bool may_wait = !worker ? !source || outcome_.deaths == 0 : !ender && !source;
    // If all subscribers have left, none has died, and the sources may wait.
    if (!worker && source) {
      for (const auto& node : nodes_) {
        const auto* home = node.alive ? node.machine->work_home().stream(ids_[kFrames]) : nullptr;
        if (home != nullptr && home->died == kNoNode) may_wait = true;
      }
      const auto* mine = nodes_[thread.node].machine->cache().work().stream(thread.id[kFrames]);
      if (mine == nullptr || mine->home == kNoNode) may_wait = true;
    }
    if (!may_wait)
      waiting += fmt::format("; thread {} of node {} in {}", t, thread.node,
                             static_cast<int>(thread.doing));
  }
  if (!waiting.empty()) violated(Fault::kDeadlock, "nothing can happen any more{}", waiting);
  if (!worker || !ender) return;
  for (std::uint64_t tag : put_)
    if (!shown_.contains(tag)) violated(Fault::kWrongValue, "frame {} was lost", tag);
}

}  // namespace terrane::sim
