// What the program's threads do: which of them has a processor, and how their ops begin and end.
#include "forecast/threads.h"

#include <fmt/format.h>

#include <algorithm>

namespace terrane::forecast {

using Kind = Op::Kind;
using protocol::Access;

namespace {

// How long threads compute that take turns at a processor.
constexpr Ns kQuantumNs = 1'000'000;
constexpr double kYieldNs = 1'000;
constexpr int kMostAtOnce = 1'000;  // ops that take no time, before other actors act

}  // namespace

void Threads::begin() {
  running_ = job_.program.threads();
  for (std::uint32_t t = 0; t < running_; ++t) {
    std::uint32_t node = job_.setup.node_of[t];
    threads_.push_back(job_.add_actor<Thread>(node, t));
    ++job_.nodes[node]->threads;
  }
  for (Thread* thread : threads_) make_ready(*thread);
}

// ---- processors

// The thread has something to do. If no processor is free, it interrupts the thread that has
// computed longest in one go, as a kernel does for a thread that has slept.
void Threads::make_ready(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  if (node.free_processors > 0) {
    --node.free_processors;
    thread.has_processor = true;
    return job_.go_on(thread);
  }
  Thread* longest = nullptr;
  for (auto& actor : node.actors) {
    if (actor->role != Actor::Role::kThread) continue;
    auto& other = static_cast<Thread&>(*actor);
    bool longer = longest == nullptr || other.slice_began < longest->slice_began;
    if (other.computes && longer) longest = &other;
  }
  if (longest == nullptr) return node.ready.push_front(&thread);
  end_slice(*longest);
  longest->has_processor = false;
  node.ready.push_back(longest);
  thread.has_processor = true;
  job_.go_on(thread);
}

void Threads::give_processor(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  thread.has_processor = false;
  if (node.ready.empty()) {
    ++node.free_processors;
    return;
  }
  Thread& next = *node.ready.front();
  node.ready.pop_front();
  next.has_processor = true;
  job_.go_on(next);
}

void Threads::wait(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  thread.wait_began = job_.now();
  if (thread.polls()) node.waiting.push_back(&thread);
  node.sleeping += thread.wait == Actor::Wait::kEvent;
  give_processor(thread);
}

void Threads::wake(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  if (thread.polls()) std::erase(node.waiting, &thread);
  node.sleeping -= thread.wait == Actor::Wait::kEvent;
  thread.wait = Actor::Wait::kNothing;
  make_ready(thread);
}

void Threads::yield(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  if (node.ready.empty()) return job_.go_on(thread, kYieldNs);
  node.ready.push_back(&thread);
  give_processor(thread);
}

// A slice of the thread's work: all of it, where each thread has a processor.
void Threads::compute(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  bool shares = node.threads > job_.setup.processors;
  Ns slice = shares ? std::min(thread.work_left, kQuantumNs) : thread.work_left;
  thread.computes = true;
  thread.slice_began = job_.now();
  job_.go_on(thread, static_cast<double>(slice));
}

// Its end comes now, perhaps before its time.
void Threads::end_slice(Thread& thread) {
  thread.computes = false;
  thread.work_left -= std::min(thread.work_left, job_.now() - thread.slice_began);
  ++thread.generation;
  job_.agenda.progress();
}

// ---- ops

void Threads::go_on(Thread& thread) {
  if (thread.computes) {
    end_slice(thread);
    Node& node = *job_.nodes[thread.node];
    if (thread.work_left > 0 && !node.ready.empty()) {
      node.ready.push_back(&thread);
      return give_processor(thread);
    }
  }
  for (int i = 0;; ++i) {
    if (thread.op_done) finish_op(thread);
    if (!thread.has_op && !next_op(thread)) return;
    auto cost = begin_op(thread);
    if (!cost || !job_.failure.empty()) return;
    if (*cost > 0 || i == kMostAtOnce) return job_.go_on(thread, *cost);
  }
}

// False: the thread has ended.
bool Threads::next_op(Thread& thread) {
  job_.agenda.progress();
  thread.began = job_.now();
  if (thread.arrives) {
    thread.op = {.kind = Kind::kBarrier, .id = *thread.arrives};
    return thread.has_op = true;
  }
  thread.op = {};
  thread.has_op = job_.program.next(thread.number, thread.op);
  thread.work_left = thread.op.ns;
  if (thread.has_op) return true;
  thread.ended = true;
  ++job_.nodes[thread.node]->ended;
  --running_;
  ended_at_ = job_.now();
  give_processor(thread);
  return false;
}

void Threads::finish_op(Thread& thread) {
  bool before_start = !thread.started && thread.op.kind == Kind::kAwait;
  if (!before_start && !thread.arrives)
    job_.accounts.done(thread.op, thread.node, job_.now() - thread.began, thread.times);
  thread.started = true;
  thread.has_op = thread.op_done = false;
}

// What it costs; nothing: an operation has begun, or the thread waits or computes.
std::optional<double> Threads::begin_op(Thread& thread) {
  const Op& op = thread.op;
  bool accesses = op.kind == Kind::kRead || op.kind == Kind::kWrite || op.kind == Kind::kAtomic;
  if (accesses && op.page >= job_.pages) {
    job_.fail(fmt::format("thread {} accesses page {} of {}", thread.number, op.page, job_.pages));
    return std::nullopt;
  }
  switch (op.kind) {
    case Kind::kWork:
      if (thread.work_left == 0) {
        thread.op_done = true;
        return 0.0;
      }
      compute(thread);
      return std::nullopt;
    case Kind::kRead:
    case Kind::kWrite:
      return access(thread);
    case Kind::kSet:
      set_event(thread);
      thread.op_done = true;
      return job_.costs.per_message;
    case Kind::kAwait:
      thread.op_done = true;
      if (sees_event(thread)) return 0.0;
      thread.wait = Actor::Wait::kEvent;
      wait(thread);
      return std::nullopt;
    default: {
      look_(thread.node);
      Working working(job_.observer, thread.node);
      return synchronise(thread);
    }
  }
}

// Where the view does not allow it, a fault begins.
std::optional<double> Threads::access(Thread& thread) {
  Node& node = *job_.nodes[thread.node];
  const Op& op = thread.op;
  std::uint64_t block = job_.first + op.page;
  View& view = node.views[block];
  bool writes = op.kind == Kind::kWrite;
  if (!view.present) {
    ++node.tally.faults;
    job_.accounts.fault(op.page, thread.node);
    thread.in_fault = true;
    Working working(job_.observer, thread.node);
    thread.start(
        node.hlrc->fault(thread.strand, BlockId{block}, writes ? Access::kWrite : Access::kRead));
    return job_.costs.fault;
  }
  thread.op_done = true;
  Page& page = node.frames[block];
  if (job_.observer != nullptr) job_.observer->accesses(thread.number, op, page.lines);
  if (!writes) return 0.0;
  std::uint32_t value = op.value;
  if (value == Op::kNewValue) value = latest_value_ = (latest_value_ + 1) % Op::kNewValue;
  for (std::uint64_t left = op.mask; left != 0; left &= left - 1)
    page.lines[std::countr_zero(left)] = value;
  double cost = view.guarded ? job_.costs.first_write : 0;
  view.guarded = false;
  return cost;
}

void Threads::check(const Thread& thread, protocol::FaultResult result) {
  if (result == protocol::FaultResult::kDone) return;
  job_.fail(fmt::format("an access to page {} by thread {} was answered with {}", thread.op.page,
                        thread.number, static_cast<int>(result)));
}

void Threads::finish_operation(Thread& thread) {
  bool again = thread.in_fault || thread.prepares;
  if (thread.in_fault) {
    check(thread, thread.value_of<protocol::FaultResult>());
  } else if (thread.prepares) {
    Rendezvous& rendezvous = rendezvous_[thread.op.id];
    rendezvous.is_made = true;
    tell(rendezvous.waiting, thread.node, job_.now());
  } else if (thread.op.kind == Kind::kAtomic) {
    check(thread, thread.value_of<protocol::AtomicDone>().result);
  } else if (thread.op.kind == Kind::kArrive) {
    if (thread.value_of<protocol::Arrival>() == protocol::Arrival::kNowhere)
      job_.fail(fmt::format("rendezvous {} was not prepared", thread.op.id));
  }
  thread.in_fault = thread.prepares = false;
  thread.operation.emplace<0>();
  thread.op_done = !again;
}

// ---- events of the program

void Threads::set_event(Thread& thread) {
  News& news = news_[thread.op.id];
  if (news.is_set) return;
  news.is_set = true;
  news.set_at = job_.now() + static_cast<Ns>(job_.costs.per_message);
  news.node = thread.node;
  tell(news.waiting, news.node, news.set_at);
}

// News from that node, which begin their way then.
void Threads::tell(std::vector<Thread*>& waiting, std::uint32_t from, Ns at) {
  for (Thread* thread : waiting) {
    Ns way = thread->node == from ? 0 : static_cast<Ns>(job_.costs.latency);
    job_.agenda.add(Happening::Kind::kNewsComes, at + way, thread->node, thread->number);
  }
  waiting.clear();
}

// Whether the thread knows already; else it will be woken.
bool Threads::sees_event(Thread& thread) {
  News& news = news_[thread.op.id];
  if (!news.is_set) {
    news.waiting.push_back(&thread);
    return false;
  }
  Ns comes = news.set_at + (thread.node == news.node ? 0 : static_cast<Ns>(job_.costs.latency));
  if (comes <= job_.now()) return true;
  job_.agenda.add(Happening::Kind::kNewsComes, comes, thread.node, thread.number);
  return false;
}

}  // namespace terrane::forecast
