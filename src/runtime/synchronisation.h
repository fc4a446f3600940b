#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "platform/ticks.h"
#include "protocol/core/object_ids.h"
#include "runtime/engine.h"
#include "runtime/outcome.h"
#include "runtime/statistics.h"

namespace terrane::runtime {

class PageTrace;
class Recording;

// The kinds of counts. Each kind has its own range of token numbers, as have the program's locks.
enum class CountKind : std::uint64_t { kCounter = 1, kFlag, kSemaphore, kCondition };
constexpr LockId count_id(CountKind kind, std::uint32_t number) {
  return LockId{static_cast<std::uint64_t>(kind) << 32 | number};
}

// Locks, counts, conditions and barriers: the operations of a node in which threads wait for
// others. Any thread may call any method at any time.
class Synchronisation {
 public:
  Outcome lock(LockId lock);
  Outcome unlock(LockId lock);
  // Delivers the messages that have come, and serves other nodes. For a thread that computes for
  // long.
  void look();
  // Operations on counts. A count has the number of its token (count_id()).
  Outcome change_count(LockId count, protocol::CountOp op, std::int64_t operand,
                       std::int64_t* before = nullptr);
  Outcome await_count(LockId count, std::int64_t at_least);
  // False: the count was not seen so high until then, a time of platform::now_ns().
  bool await_count_until(LockId count, std::int64_t at_least, std::uint64_t until_ns);
  bool take_units(LockId count, protocol::Units units, WaitLimit limit);
  Outcome wait_condition(LockId condition, LockId lock);
  Outcome signal_condition(LockId condition, bool all);
  // The same for objects of the C library's threads (protocol/core/object_ids.h), whose callers
  // need no error messages for normal results. lock_until returns kOk, kHeldAlready, kBusy or
  // kExpired. until_ns is a time of platform::now_ns(); 0: the call does not wait, ~0: no time
  // limit.
  protocol::LockResult lock_until(LockId mutex, std::uint64_t until_ns);
  protocol::LockResult unlock_held(LockId mutex);
  protocol::LockResult wait_condition_until(LockId condition, LockId mutex, WaitLimit limit);
  protocol::Arrival arrive(LockId barrier);
  // What the calling thread's node has written is seen by every thread that calls this when this
  // call has returned. Result: whether it told other nodes anything, or heard anything from them.
  bool fence();
  // For a thread that makes fences in a loop: waits until its next one may tell or hear something,
  // or the time has come (of platform::now_ns()).
  void await_fence(std::uint64_t until_ns);
  Outcome barrier(BarrierId barrier, std::uint32_t threads_here);
  // A barrier with a reduction of all threads' `values`; the result goes to `out`, which may be the
  // same memory.
  Outcome barrier_reduce(BarrierId barrier, std::uint32_t threads_here,
                         const protocol::Contribution& contribution, std::byte* out);
  // A barrier in which at most one thread gives bytes (a multiple of 8). Each thread receives them
  // in `got`, which is empty if no thread gave any.
  Outcome barrier_broadcast(BarrierId barrier, std::uint32_t threads_here,
                            std::span<const std::byte> given, std::vector<std::byte>& got);
  // For the thread of node 0 that enters the barrier last on that node: waits until all other
  // threads wait in the barrier. Their writes are visible afterwards.
  Outcome gather(BarrierId barrier, std::uint32_t threads_here);

 protected:
  Synchronisation() = default;
  ~Synchronisation() = default;

  // Before the first call. locks, trace: nullptr without a report; recording: nullptr without a
  // recording. All outlive the calls.
  void attach(ThreadRegistry& threads, Engine& engine, protocol::Hlrc& hlrc, LockCounters* locks,
              PageTrace* trace, Recording* recording);
  // From now on the costs of locks are counted there. Any thread.
  void count_locks(LockCounters* locks) { locks_.store(locks, std::memory_order_release); }
  std::uint64_t ns_since(std::uint64_t from) const {
    return scale_.duration_ns(platform::ticks() - from);
  }

 private:
  template <typename Start>
  auto synchronise(Waiting waiting, Start start);
  template <typename Acquire>
  protocol::LockResult count_lock(LockId lock, Acquire acquire);
  template <typename Start>
  Outcome at_barrier(BarrierId barrier, std::uint32_t threads_here, Start start);
  void account(ThreadContext& context, Counter Counters::*waiting, std::uint64_t from);

  ThreadRegistry* threads_ = nullptr;
  Engine* engine_ = nullptr;
  protocol::Hlrc* hlrc_ = nullptr;
  std::atomic<LockCounters*> locks_{nullptr};
  PageTrace* trace_ = nullptr;
  Recording* recording_ = nullptr;
  platform::TickScale scale_;  // as of attach(): exact enough for short times
};

}  // namespace terrane::runtime
