// The ops in which threads wait for each other.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "forecast/threads.h"

namespace terrane::forecast {

using Kind = Op::Kind;

namespace {

// What a thread gives to a barrier; its values do not matter.
protocol::Contribution contribution(std::int64_t bytes) {
  static const std::byte zeros[protocol::kMaxReduced * protocol::kReducedBytes] = {};
  auto elements = std::min<std::size_t>(
      protocol::kMaxReduced,
      (static_cast<std::size_t>(bytes) + protocol::kReducedBytes - 1) / protocol::kReducedBytes);
  if (bytes <= 0) return {};
  return {protocol::ReduceOp::kSum, protocol::ReduceType::kUint64,
          protocol::Bytes(zeros, elements * protocol::kReducedBytes)};
}

// A word of the page's first changed line: its value changes with each operation but kLoad.
protocol::AtomicOp atomic_of(const Op& op) {
  using protocol::AtomicKind;
  return {.kind = op.atomic == AtomicKind::kLoad ? AtomicKind::kLoad : AtomicKind::kAdd,
          .size = sizeof(std::uint32_t),
          .offset = static_cast<std::uint32_t>(std::countr_zero(op.mask | 1ull << 63)) * 4,
          .operand = 1};
}

std::string describe(const Op& op) {
  switch (op.kind) {
    case Kind::kLock:
    case Kind::kTryLock:
    case Kind::kUnlock:
      return fmt::format("lock {}", op.id);
    case Kind::kAwaitCount:
      return fmt::format("count {} to reach {}", op.id, op.operand);
    case Kind::kTakeUnits:
      return fmt::format("{} units of {}", op.operand, op.id);
    case Kind::kWaitCondition:
      return fmt::format("condition {}", op.id);
    case Kind::kArrive:
      return fmt::format("the others at rendezvous {}", op.id);
    case Kind::kBarrier:
    case Kind::kGather:
      return fmt::format("the others at barrier {}", op.id);
    case Kind::kAwait:
      return fmt::format("event {}", op.id);
    case Kind::kRead:
    case Kind::kWrite:
    case Kind::kAtomic:
      return fmt::format("page {}", op.page);
    default:
      return fmt::format("object {}", op.id);
  }
}

}  // namespace

// Nodes without a thread that uses the barrier take part in it all the same: one that is none of
// the program arrives there.
std::uint32_t Threads::threads_here(std::uint32_t self, std::uint64_t barrier) {
  auto [users, is_new] = users_.try_emplace(barrier);
  if (is_new) {
    users->second.resize(job_.node_count());
    for (std::uint32_t t = 0; t < job_.program.threads(); ++t)
      users->second[job_.setup.node_of[t]] += job_.program.uses_barrier(t, barrier);
    for (std::uint32_t n = 0; n < job_.node_count(); ++n) {
      if (users->second[n] > 0) continue;
      users->second[n] = 1;
      Thread* thread = job_.add_actor<Thread>(n, Thread::kNone);
      thread->arrives = barrier;
      make_ready(*thread);
    }
  }
  return users->second[self];
}

// What it costs; nothing: an operation has begun.
std::optional<double> Threads::synchronise(Thread& thread) {
  protocol::Hlrc& hlrc = *job_.nodes[thread.node]->hlrc;
  protocol::Strand& strand = thread.strand;
  const Op& op = thread.op;
  BarrierId barrier{static_cast<std::uint32_t>(op.id)};
  switch (op.kind) {
    case Kind::kLock:
    case Kind::kTryLock:
      thread.start(hlrc.lock(strand, LockId{op.id}));
      break;
    case Kind::kUnlock:
      thread.start(hlrc.unlock(strand, LockId{op.id}));
      break;
    case Kind::kBarrier:
      thread.start(hlrc.barrier(strand, barrier, threads_here(thread.node, op.id),
                                contribution(op.operand), &thread.reduced));
      break;
    case Kind::kGather:
      thread.op_done = thread.node != 0;
      if (thread.op_done) return 0.0;
      thread.start(hlrc.gather(strand, barrier, threads_here(thread.node, op.id)));
      break;
    case Kind::kFence:
      thread.start(hlrc.fence(strand));
      break;
    case Kind::kAtomic:
      thread.start(hlrc.atomic(strand, BlockId{job_.first + op.page}, atomic_of(op)));
      break;
    default:
      return count(thread);
  }
  job_.go_on(thread);
  return std::nullopt;
}

// The ops of counts, and of what is built from them.
std::optional<double> Threads::count(Thread& thread) {
  using protocol::Patience;
  protocol::Hlrc& hlrc = *job_.nodes[thread.node]->hlrc;
  protocol::Strand& strand = thread.strand;
  const Op& op = thread.op;
  LockId id{op.id};
  switch (op.kind) {
    case Kind::kChangeCount:
      thread.start(hlrc.change_count(strand, id, op.count_op, op.operand));
      break;
    case Kind::kAwaitCount:
      thread.start(hlrc.await_count(strand, id, op.operand));
      break;
    case Kind::kTakeUnits:
      thread.start(hlrc.take_units(strand, id, {op.operand, op.room}, Patience::kForEver));
      break;
    case Kind::kWaitCondition:
      thread.op_done = op.operand > 0 && signals_[op.id] >= op.operand;
      if (thread.op_done) return 0.0;
      thread.start(hlrc.wait_condition(strand, id, LockId{op.other}, Patience::kExpires));
      break;
    case Kind::kSignal:
    case Kind::kBroadcast:
      ++signals_[op.id];
      thread.start(hlrc.signal_condition(strand, id, op.kind == Kind::kBroadcast));
      break;
    default:
      return arrive(thread);
  }
  job_.go_on(thread);
  return std::nullopt;
}

// The first thread of a rendezvous makes its count; the others wait for that.
std::optional<double> Threads::arrive(Thread& thread) {
  protocol::Hlrc& hlrc = *job_.nodes[thread.node]->hlrc;
  const Op& op = thread.op;
  auto [made, is_new] = rendezvous_.try_emplace(op.id);
  Rendezvous& rendezvous = made->second;
  if (op.operand == 0) rendezvous.is_made = true;
  if (is_new && !rendezvous.is_made) {
    thread.prepares = true;
    thread.start(
        hlrc.change_count(thread.strand, LockId{op.id}, protocol::CountOp::kTicket, op.operand));
  } else if (!rendezvous.is_made) {
    rendezvous.waiting.push_back(&thread);
    thread.wait = Actor::Wait::kEvent;
    wait(thread);
    return std::nullopt;
  } else {
    thread.start(hlrc.arrive(thread.strand, LockId{op.id}));
  }
  job_.go_on(thread);
  return std::nullopt;
}

// The one that has waited longest.
Thread* Threads::lost_wait() {
  Thread* longest = nullptr;
  for (Thread* thread : threads_) {
    if (thread->ended || job_.program.ends_waiting(thread->number)) continue;
    if (thread->op.kind != Kind::kWaitCondition) continue;
    if (thread->wait != Actor::Wait::kResume) continue;
    const auto& event = *std::get<protocol::Call>(thread->strand.step()).event;
    const auto* sleep = std::get_if<protocol::CountSleep>(&event);
    if (sleep == nullptr || !sleep->may_expire) continue;
    if (longest == nullptr || thread->began < longest->began) longest = thread;
  }
  return longest;
}

bool Threads::have_ended() const {
  return std::all_of(threads_.begin(), threads_.end(), [this](const Thread* thread) {
    return thread->ended || job_.program.ends_waiting(thread->number);
  });
}

// For the report: the first of the threads that wait for ever.
std::string Threads::waiting() const {
  std::string text;
  int named = 0;
  for (const Thread* thread : threads_) {
    if (thread->ended) continue;
    if (++named > 8) {
      text += ", and others";
      break;
    }
    text += fmt::format("{}thread {} on node {} waits for {}", text.empty() ? "" : ", ",
                        thread->number, thread->node, describe(thread->op));
  }
  return text;
}

}  // namespace terrane::forecast
