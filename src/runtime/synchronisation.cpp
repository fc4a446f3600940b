#include "runtime/synchronisation.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/before_operations.h"
#include "runtime/page_trace.h"
#include "runtime/program/own_stack.h"
#include "runtime/recording.h"
#include "runtime/wait_reports.h"
#include "waiting/constants.h"

namespace terrane::runtime {
namespace {

using For = Waiting::For;
using Done = RecordedOp::Kind;

Waiting waits_for(For what, LockId id, std::int64_t until = 0) {
  return {protocol::is_object(id) ? For::kObject : what, id.value, until};
}

bool is_barrier(const Waiting& waiting) {
  return waiting.what == For::kObject &&
         protocol::kind_of(LockId{waiting.id}) == protocol::ObjectKind::kBarrier;
}

protocol::Patience patience_of(const WaitLimit& limit) {
  if (limit.until_ns == 0) return protocol::Patience::kTry;
  return limit.is_none() ? protocol::Patience::kForEver : protocol::Patience::kExpires;
}

// A program that retries again and again must not take the processor from the thread that holds the
// lock, or from the handler thread that will receive it.
void note_try(ThreadContext& context, bool taken) {
  if (taken)
    context.tries = {};
  else if (!context.tries.pause())
    ::sched_yield();
}

// Calls look() at growing intervals until it returns true. False: the time has come.
template <typename Look>
bool look_again(std::uint64_t until_ns, Look look) {
  for (std::uint64_t sleep_ns = waiting::kFirstNapNs;;
       sleep_ns = std::min(2 * sleep_ns, waiting::kLongestNapNs)) {
    if (look()) return true;
    std::uint64_t now = platform::now_ns();
    if (now >= until_ns) return false;
    ::usleep(static_cast<useconds_t>(std::min(sleep_ns, until_ns - now) / 1000 + 1));
  }
}

}  // namespace

void Synchronisation::attach(ThreadRegistry& threads, Engine& engine, protocol::Hlrc& hlrc,
                             LockCounters* locks, PageTrace* trace, Recording* recording) {
  threads_ = &threads;
  engine_ = &engine;
  hlrc_ = &hlrc;
  count_locks(locks);
  trace_ = trace;
  recording_ = recording;
  scale_.mark();
}

// Divides the time of an operation that began at `from` into waiting and protocol work.
void Synchronisation::account(ThreadContext& context, Counter Counters::*waiting,
                              std::uint64_t from) {
  std::uint64_t total = ns_since(from);
  std::uint64_t waited = std::min(context.waited_ns, total);
  (context.counters.*waiting).add(waited);
  context.counters.overhead_ns.add(total - waited);
  context.waited_ns = 0;
  if (trace_ == nullptr) return;
  auto kind = waiting == &Counters::barrier_ns ? trace::TimeKind::kBarrier : trace::TimeKind::kLock;
  trace_->waited(context, kind, context.waiting.id, waited);
}

// Runs an operation of the calling thread that may wait for other threads; start(strand) makes it.
template <typename Start>
auto Synchronisation::synchronise(Waiting waiting, Start start) {
  begin_operation();
  return on_own_stack([&] {
    ThreadContext& context = threads_->current();
    Inside inside(context);
    context.waiting = waiting;
    std::uint64_t from = platform::ticks();
    context.ongoing.begin(Ongoing::What::kLock, from);
    engine_->look(context);
    auto finish = [&] {
      context.ongoing.end();
      account(context, is_barrier(waiting) ? &Counters::barrier_ns : &Counters::lock_ns, from);
      context.waiting = {};
    };
    auto task = start(context.strand);
    if constexpr (std::is_void_v<decltype(task.value())>) {
      engine_->run(context, std::move(task));
      finish();
    } else {
      auto result = engine_->run(context, std::move(task));
      finish();
      return result;
    }
  });
}

void Synchronisation::look() {
  on_own_stack([&] {
    ThreadContext& context = threads_->current();
    Inside inside(context);
    engine_->look(context);
  });
}

// Calls acquire(), which takes the lock or does not. With a report, adds its costs to the lock's
// counts.
template <typename Acquire>
protocol::LockResult Synchronisation::count_lock(LockId lock, Acquire acquire) {
  Counters& counters = threads_->current().counters;
  LockCounters* locks = locks_.load(std::memory_order_acquire);
  if (locks == nullptr) {
    auto result = acquire();
    if (result == protocol::LockResult::kOk) counters.lock_acquires.add(1);
    return result;
  }
  std::uint64_t sent = counters.messages_sent.get(), waited = counters.lock_ns.get(),
                dropped = counters.pages_invalidated.get(),
                refreshed = counters.pages_refreshed.get();
  auto result = acquire();
  LockCounters::Lock& counts = locks->of(lock);
  counts.wait_ns += counters.lock_ns.get() - waited;
  counts.dropped += counters.pages_invalidated.get() - dropped;
  counts.refreshed += counters.pages_refreshed.get() - refreshed;
  if (result != protocol::LockResult::kOk) return result;
  counters.lock_acquires.add(1);
  ++counts.acquires;
  if (counters.messages_sent.get() != sent) ++counts.remote;
  return result;
}

Outcome Synchronisation::lock(LockId lock) {
  if (lock_until(lock, ~0ull) == protocol::LockResult::kHeldAlready) {
    return {
        Status::kInvalid,
        fmt::format("lock {} is held by this thread already; locks are not recursive", lock.value)};
  }
  return {};
}

Outcome Synchronisation::unlock(LockId lock) {
  if (unlock_held(lock) == protocol::LockResult::kNotHeld)
    return {Status::kNotHeld, fmt::format("lock {} is not held by this thread", lock.value)};
  return {};
}

Outcome Synchronisation::change_count(LockId count, protocol::CountOp op, std::int64_t operand,
                                      std::int64_t* before) {
  RecordedCall recorded(recording_, *threads_);
  std::uint64_t was = synchronise(
      {}, [&](protocol::Strand& s) { return hlrc_->change_count(s, count, op, operand); });
  recorded.note({.kind = Done::kChangeCount,
                 .detail = static_cast<std::uint8_t>(op),
                 .id = count.value,
                 .value = static_cast<std::uint64_t>(operand)},
                false);
  if (before != nullptr) *before = static_cast<std::int64_t>(was);
  return {};
}

Outcome Synchronisation::await_count(LockId count, std::int64_t at_least) {
  bool flag = count.value >> 32 == static_cast<std::uint64_t>(CountKind::kFlag);
  const RecordedOp done{
      .kind = Done::kAwaitCount, .id = count.value, .value = static_cast<std::uint64_t>(at_least)};
  RecordedCall recorded(recording_, *threads_, done);
  synchronise(waits_for(flag ? For::kFlag : For::kCounter, count, at_least),
              [&](protocol::Strand& s) { return hlrc_->await_count(s, count, at_least); });
  recorded.note(done, true);
  return {};
}

bool Synchronisation::take_units(LockId count, protocol::Units units, WaitLimit limit) {
  const RecordedOp done{.kind = Done::kTakeUnits,
                        .id = count.value,
                        .value = static_cast<std::uint64_t>(units.count),
                        .other = static_cast<std::uint64_t>(units.room)};
  RecordedCall recorded(recording_, *threads_, done);
  ThreadContext& context = threads_->current();
  context.limit = limit;
  bool taken = synchronise(waits_for(For::kSemaphore, count), [&](protocol::Strand& s) {
    return hlrc_->take_units(s, count, units, patience_of(limit));
  });
  if (taken) recorded.note(done, true);
  if (limit.until_ns == 0) note_try(context, taken);
  return taken;
}

bool Synchronisation::await_count_until(LockId count, std::int64_t at_least,
                                        std::uint64_t until_ns) {
  return look_again(until_ns, [&] {
    std::int64_t value = 0;
    change_count(count, protocol::CountOp::kAdd, 0, &value);
    return value >= at_least;
  });
}

protocol::LockResult Synchronisation::lock_until(LockId mutex, std::uint64_t until_ns) {
  using protocol::LockResult;
  const RecordedOp done{.kind = Done::kLock, .detail = until_ns != ~0ull, .id = mutex.value};
  RecordedCall recorded(recording_, *threads_, done);
  auto note = [&](LockResult result) {
    if (result == LockResult::kOk) recorded.note(done, true);
    return result;
  };
  Waiting waiting = waits_for(For::kLock, mutex);
  if (until_ns == ~0ull) {
    return note(count_lock(mutex, [&] {
      bool taken = synchronise(waiting, [&](protocol::Strand& s) { return hlrc_->lock(s, mutex); });
      return taken ? LockResult::kOk : LockResult::kHeldAlready;
    }));
  }
  LockResult result = LockResult::kBusy;
  bool in_time = look_again(until_ns, [&] {
    result = count_lock(mutex, [&] {
      return synchronise(waiting, [&](protocol::Strand& s) { return hlrc_->try_lock(s, mutex); });
    });
    if (until_ns == 0) note_try(threads_->current(), result != LockResult::kBusy);
    return result != LockResult::kBusy || until_ns == 0;
  });
  return in_time ? note(result) : LockResult::kExpired;
}

protocol::LockResult Synchronisation::unlock_held(LockId mutex) {
  RecordedCall recorded(recording_, *threads_);
  auto result = synchronise({}, [&](protocol::Strand& s) { return hlrc_->unlock(s, mutex); });
  if (result == protocol::LockResult::kOk)
    recorded.note({.kind = Done::kUnlock, .id = mutex.value}, false);
  return result;
}

protocol::LockResult Synchronisation::wait_condition_until(LockId condition, LockId mutex,
                                                           WaitLimit limit) {
  const RecordedOp done{.kind = Done::kWaitCondition, .id = condition.value, .value = mutex.value};
  RecordedCall recorded(recording_, *threads_, done);
  threads_->current().limit = limit;
  auto result = synchronise(waits_for(For::kCondition, condition), [&](protocol::Strand& s) {
    return hlrc_->wait_condition(s, condition, mutex, patience_of(limit));
  });
  if (result == protocol::LockResult::kExpired) {  // no signal was for it
    recorded.note({.kind = Done::kUnlock, .id = mutex.value}, false);
    recorded.note({.kind = Done::kLock, .id = mutex.value}, true);
  } else if (result == protocol::LockResult::kOk) {
    recorded.note(done, true);
  }
  return result;
}

bool Synchronisation::fence() {
  RecordedCall recorded(recording_, *threads_);
  bool moved = synchronise({}, [&](protocol::Strand& s) { return hlrc_->fence(s); });
  if (moved) recorded.note({.kind = Done::kFence}, true);
  return moved;
}

void Synchronisation::await_fence(std::uint64_t until_ns) {
  RecordedCall recorded(recording_, *threads_);
  begin_operation();
  on_own_stack([&] {
    ThreadContext& context = threads_->current();
    Inside inside(context);
    std::uint64_t from = platform::ticks();
    context.ongoing.begin(Ongoing::What::kLock, from);
    engine_->await_fence(context, until_ns);
    context.ongoing.end();
    account(context, &Counters::lock_ns, from);
  });
}

protocol::Arrival Synchronisation::arrive(LockId barrier) {
  const RecordedOp done{.kind = Done::kArrive, .id = barrier.value};
  RecordedCall recorded(recording_, *threads_, done);
  auto arrival = synchronise(waits_for(For::kObject, barrier),
                             [&](protocol::Strand& s) { return hlrc_->arrive(s, barrier); });
  if (arrival != protocol::Arrival::kNowhere) recorded.note(done, true);
  return arrival;
}

Outcome Synchronisation::wait_condition(LockId condition, LockId lock) {
  if (wait_condition_until(condition, lock, ~0ull) == protocol::LockResult::kNotHeld)
    return {Status::kNotHeld, fmt::format("lock {}, with which a condition is waited for, is not "
                                          "held by this thread",
                                          lock.value)};
  return {};
}

Outcome Synchronisation::signal_condition(LockId condition, bool all) {
  RecordedCall recorded(recording_, *threads_);
  synchronise({}, [&](protocol::Strand& s) { return hlrc_->signal_condition(s, condition, all); });
  recorded.note({.kind = all ? Done::kSignalAll : Done::kSignal, .id = condition.value}, false);
  return {};
}

Outcome Synchronisation::barrier(BarrierId barrier, std::uint32_t threads_here) {
  return barrier_reduce(barrier, threads_here, {}, nullptr);
}

// What an operation on a barrier begins with, and where its result goes.
template <typename Begin>
struct Reducing {
  Begin begin;
  std::vector<std::byte>& got;
  Done done = Done::kBarrier;
};
template <typename Begin>
Reducing(Begin, std::vector<std::byte>&) -> Reducing<Begin>;
template <typename Begin>
Reducing(Begin, std::vector<std::byte>&, Done) -> Reducing<Begin>;

// Runs an operation of the calling thread on a barrier, start.begin(strand, reduced). Its result
// says whether all threads use the same reduction. The operation writes `reduced`, so that is on
// its own stack meanwhile: the calling thread's may be in shared memory, which operations must not
// touch.
template <typename Start>
Outcome Synchronisation::at_barrier(BarrierId barrier, std::uint32_t threads_here, Start start) {
  if (threads_here == 0)
    return {Status::kInvalid, "a barrier needs at least one thread of each node"};
  RecordedOp done{.kind = start.done, .id = barrier.value, .other = threads_here};
  RecordedCall recorded(recording_, *threads_, done);
  begin_operation();
  ThreadContext& context = threads_->current();
  struct Result {
    bool matched = true;
    std::vector<std::byte> reduced;
  };
  Result result = on_own_stack([&] {
    Inside inside(context);
    context.waiting = {For::kBarrier, barrier.value};
    std::uint64_t from = platform::ticks();
    context.ongoing.begin(Ongoing::What::kBarrier, from);
    Result one;
    if constexpr (std::is_void_v<decltype(start.begin(context.strand, one.reduced).value())>) {
      engine_->run_expecting(context, start.begin(context.strand, one.reduced));
    } else {
      one.matched = engine_->run_expecting(context, start.begin(context.strand, one.reduced));
    }
    context.ongoing.end();
    account(context, &Counters::barrier_ns, from);
    context.waiting = {};
    return one;
  });
  done.value = result.reduced.size();
  recorded.note(done, true);
  start.got = std::move(result.reduced);
  if (!result.matched)
    return {Status::kMismatch,
            fmt::format("barrier {}: all threads must reduce by the same operation, the same type "
                        "and as many values",
                        barrier.value)};
  return {};
}

// The program's data may be in shared memory, so they are copied: the core must not touch that.
Outcome Synchronisation::barrier_reduce(BarrierId barrier, std::uint32_t threads_here,
                                        const protocol::Contribution& contribution,
                                        std::byte* out) {
  ThreadContext& context = threads_->current();
  std::vector<std::byte> values(contribution.values.begin(), contribution.values.end());
  std::vector<std::byte> reduced;
  context.counters.barriers.add(1);
  auto start = [&](protocol::Strand& s, std::vector<std::byte>& into) {
    return hlrc_->barrier(s, barrier, threads_here, {contribution.op, contribution.type, values},
                          &into);
  };
  Outcome outcome = at_barrier(barrier, threads_here, Reducing{start, reduced});
  if (outcome.ok() && out != nullptr) std::memcpy(out, reduced.data(), reduced.size());
  return outcome;
}

Outcome Synchronisation::barrier_broadcast(BarrierId barrier, std::uint32_t threads_here,
                                           std::span<const std::byte> given,
                                           std::vector<std::byte>& got) {
  ThreadContext& context = threads_->current();
  context.counters.barriers.add(1);
  auto start = [&](protocol::Strand& s, std::vector<std::byte>& into) {
    return hlrc_->barrier(s, barrier, threads_here,
                          {protocol::ReduceOp::kBroadcast, protocol::ReduceType::kUint64, given},
                          &into);
  };
  return at_barrier(barrier, threads_here, Reducing{start, got});
}

Outcome Synchronisation::gather(BarrierId barrier, std::uint32_t threads_here) {
  std::vector<std::byte> nothing;
  auto start = [&](protocol::Strand& s, std::vector<std::byte>&) {
    return hlrc_->gather(s, barrier, threads_here);
  };
  return at_barrier(barrier, threads_here, Reducing{start, nothing, Done::kGather});
}

}  // namespace terrane::runtime
