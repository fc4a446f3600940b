// The ops in which threads wait for each other.
#include <fmt/format.h>

#include <algorithm>

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

// Begins an operation. False: the op cannot be played.
bool Threads::synchronise(Thread& thread) {
  protocol::Hlrc& hlrc = *job_.nodes[thread.node]->hlrc;
  protocol::Strand& strand = thread.strand;
  const Op& op = thread.op;
  switch (op.kind) {
    case Kind::kLock:
    case Kind::kTryLock:
      thread.start(hlrc.lock(strand, LockId{op.id}));
      break;
    case Kind::kUnlock:
      thread.start(hlrc.unlock(strand, LockId{op.id}));
      break;
    case Kind::kBarrier:
      thread.start(hlrc.barrier(strand, BarrierId{static_cast<std::uint32_t>(op.id)},
                                threads_here(thread.node, op.id), contribution(op.operand),
                                &thread.reduced));
      break;
    case Kind::kFence:
      thread.start(hlrc.fence(strand));
      break;
    default:
      job_.fail(fmt::format("thread {} does what cannot be played yet", thread.number));
      return false;
  }
  return true;
}

Thread* Threads::lost_wait() { return nullptr; }

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
