#pragma once

#include <cstdint>
#include <span>

#include "forecast/costs.h"
#include "protocol/steps/atomic.h"
#include "protocol/steps/effects.h"

namespace terrane::forecast {

// One thing that a thread does. Each kind uses the fields that its comment names.
struct Op {
  enum class Kind : std::uint8_t {
    kWork,         // computes `ns` of processor time
    kRead,         // of `page`: a fault if it is not in the view
    kWrite,        // of `page`: changes the 64-byte lines of `mask`; each gets `value`
    kLock,         // of `id`
    kTryLock,      // of `id`; it was successful, so it waits as kLock does
    kUnlock,       // of `id`
    kChangeCount,  // `id`, `count_op`, `operand`
    kAwaitCount,   // until count `id` has reached `operand`
    kTakeUnits,    // `operand` units of count `id`, if it then has `room` more; waits for them
    // Of condition `id`, with lock `other`. operand: how many signals and broadcasts of the
    // condition had been sent, from the start of the program, when the wait ended; 0: not known. If
    // so many have been sent already, the thread does not wait: its predicate would be true.
    kWaitCondition,
    kSignal,     // condition `id`
    kBroadcast,  // condition `id`
    // A rendezvous `id` (pthread_barrier_t) of `operand` threads; 0: its count was prepared by
    // kChangeCount.
    kArrive,
    // Of all threads that use barrier `id` (Program::uses_barrier). operand: bytes that each thread
    // gives to a reduction or gets of a broadcast, 0: none.
    kBarrier,
    kGather,  // as Hlrc::gather, of barrier `id`; nothing on other nodes than 0
    kFence,   // as Hlrc::fence
    kAtomic,  // on a word of `page`, `atomic`; all kinds but kLoad change it
    // An event `id` outside the protocol, how a thread is started or a flag is seen. kAwait waits
    // until a kSet has been made and the news has come: between nodes it takes a message's way. An
    // event stays set. It orders nothing in memory: a release or an acquire is an op of its own.
    kSet,
    kAwait,
  };
  static constexpr std::uint32_t kNewValue = ~0u;

  Kind kind = Kind::kWork;
  protocol::CountOp count_op = protocol::CountOp::kAdd;
  protocol::AtomicKind atomic = protocol::AtomicKind::kAdd;
  std::uint32_t value = kNewValue;  // kNewValue: one that no line had before
  Ns ns = 0;
  std::uint64_t page = 0;  // counted from 0, through all regions
  std::uint64_t mask = 1;
  std::uint64_t id = 0;  // a LockId's value, a BarrierId's, or an event's number
  std::uint64_t other = 0;
  std::int64_t operand = 0;
  std::int64_t room = 0;
};

// Pages with one policy. Sequentially consistent regions are played as release consistent ones.
struct Region {
  std::uint64_t first = 0;
  std::uint64_t pages = 0;
  protocol::RegionPolicy policy{};
};

// What each thread of a program does: the same for every number of nodes.
class Program {
 public:
  virtual ~Program() = default;
  virtual std::uint32_t threads() const = 0;
  // Without gaps, in order, from page 0 on; at least one.
  virtual std::span<const Region> regions() const = 0;
  // Whether the thread takes part in the rounds of that barrier.
  virtual bool uses_barrier(std::uint32_t, std::uint64_t) const { return true; }
  // The thread's next op, when all before it are done. False: the thread has ended. Each op is
  // asked for once.
  virtual bool next(std::uint32_t thread, Op& op) = 0;
  // Whether the program ends, by its other threads, while the thread waits in the op that it was
  // given last.
  virtual bool ends_waiting(std::uint32_t) const { return false; }
};

}  // namespace terrane::forecast
