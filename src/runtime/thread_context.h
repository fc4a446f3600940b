#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "protocol/serve/flushes.h"
#include "protocol/steps/nesting.h"
#include "protocol/steps/strand.h"
#include "runtime/counters.h"
#include "runtime/pushes_out.h"
#include "transport/transport.h"
#include "waiting/backoff.h"
#include "waiting/limit.h"
#include "wire/message.h"

namespace terrane::runtime {

// A cache line. The functions that compute differences need memory aligned to it.
struct alignas(64) Line {
  std::byte bytes[64];
};

// A request by message of one thread to another node, and the answer.
struct Exchange {
  wire::Kind answer{};  // kind of the message that ends it
  NodeId from;
  protocol::BlockRange blocks;
  bool stages = false;  // fetched blocks go to the staging buffer
  std::variant<protocol::FetchResult, protocol::Owner, protocol::AtomicAnswer> result;
  std::atomic<std::uint32_t> done{1};
};

// The two pages with sequential consistency that a thread received last. A page is not given away
// before the thread has had time to use it. Two, because one instruction may need two at once.
// Other threads may call kept_until_ns().
class LatestPages {
 public:
  // The page was installed at now_ns.
  void add(std::uint64_t block, std::uint64_t now_ns);
  // holds(): whether the thread may still need its pages. let_go(): the thread has begun an
  // operation, so the instructions that needed the pages are done.
  bool holds() const { return holds_; }
  void let_go(std::uint64_t now_ns);
  // The time until which the page stays; 0: it may go now.
  std::uint64_t kept_until_ns(std::uint64_t block) const;

 private:
  static constexpr std::uint64_t kNone = ~0ull;

  struct Slot {
    std::atomic<std::uint64_t> block{kNone};
    std::atomic<std::uint64_t> since_ns{0};
    std::atomic<std::uint64_t> until_ns{0};
  };
  Slot slots_[2];
  std::size_t oldest_ = 0;
  bool holds_ = false;
};

// What a thread waits for, for the reports of long waits.
struct Waiting {
  enum class For : std::uint8_t {
    kNothing,
    kBarrier,
    kLock,
    kCounter,
    kFlag,
    kSemaphore,
    kCondition,
    kObject,  // an object of the C library in shared memory
    kLeaving
  };
  For what = For::kNothing;
  std::uint64_t id = 0;    // of the barrier or token
  std::int64_t until = 0;  // value of the counter
};

// What the thread does now other than to compute, and since when, for who looks at the node: the
// counters have it when it has ended.
class Ongoing {
 public:
  enum class What : std::uint8_t { kNothing, kFault, kLock, kBarrier };
  struct Now {
    What what = What::kNothing;
    std::uint64_t since = 0;  // in ticks
  };

  // By the thread itself. since: in ticks.
  void begin(What what, std::uint64_t since) {
    now_.store(since << 2 | static_cast<std::uint64_t>(what), std::memory_order_relaxed);
  }
  void end() { now_.store(0, std::memory_order_relaxed); }
  // By any thread.
  Now now() const {
    std::uint64_t word = now_.load(std::memory_order_relaxed);
    return {static_cast<What>(word & 3), word >> 2};
  }

 private:
  std::atomic<std::uint64_t> now_{0};
};

// A node to which a message was sent, and which of its sleeping threads the message must wake.
struct Unrung {
  NodeId to;
  transport::Sleepers whom;
};

// The state of one thread of a node: the strand of its operations, what it waits for, its counters,
// its buffers.
struct ThreadContext {
  explicit ThreadContext(protocol::WaiterId id) : strand(id), serving(id) {}

  protocol::Strand strand;
  protocol::Strand serving;         // for operations on behalf of other nodes, also during a wait
  protocol::Nesting nesting;        // which of those operations it may perform now
  ThreadContext* deputy = nullptr;  // makes late releases while this one's operation waits
  bool is_inside = false;           // in an operation of the node; read in signal handlers
  bool is_handler = false;          // handler or dropper: shares a program thread's processor
  bool is_dropper = false;          // the dropper thread, which makes no releases
  LatestPages latest_pages;
  std::atomic<std::uint32_t> resumed{
      0};  // the call was answered: `value` is the result, and the payload is in the strand
  std::uint64_t value = 0;
  // 0: the thread is awake. 1: the thread that ends its wait must interrupt the transport's sleep.
  // kSleepsAlone: it must wake this thread on `resumed`.
  static constexpr std::uint32_t kSleepsAlone = 2;
  std::atomic<std::uint32_t> sleeping{0};
  // The thread polls, from the first wait of an operation to the operation's end. A message that
  // comes meanwhile waits at most as long as a step takes, and wakes no other thread
  // (Transport::attend).
  bool attends = false;
  std::uint64_t polled_ns = 0;
  bool took = false;             // the latest polls delivered messages ...
  bool took_urgent = false;      // ... and some of them are urgent (can_wait() is false)
  std::vector<Unrung> unrung;    // nodes that were sent a message, and not woken yet
  PushesOut pushes_out;          // pushes of a barrier exit
  std::vector<Line> push_pages;  // buffer for the run of a push
  Exchange exchange;
  Exchange posted[protocol::PostFetch::kMost +
                  1];  // asked for, and not waited for yet: blocks.count > 0
  // An exchange that is not done, or nullptr.
  const Exchange* open_exchange() const {
    if (exchange.done.load() == 0) return &exchange;
    for (const Exchange& one : posted)
      if (one.done.load() == 0) return &one;
    return nullptr;
  }
  protocol::FlushesUnderWay flushes;
  Counters counters;
  Ongoing ongoing;
  Waiting waiting;
  waiting::Backoff tries;                  // retries in a row, each of which found the lock in use
  WaitLimit limit;                         // when a sleep expires that may expire
  std::atomic<std::int32_t> thread{0};     // the kernel's number of the context's thread
  std::uint64_t waited_ns = 0;             // by the operation under way
  Counter lived_ns;                        // lifetime of the context's former threads
  std::atomic<std::uint64_t> since_ns{0};  // when its thread got the context; 0: it has no thread
  std::atomic<const char*> role{nullptr};  // name of a thread of the runtime
};

// Marks the thread as inside an operation of the node, as long as this object lives.
class Inside {
 public:
  explicit Inside(ThreadContext& context) : context_(context), before_(context.is_inside) {
    context.is_inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Inside() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    context_.is_inside = before_;
  }
  Inside(const Inside&) = delete;

 private:
  ThreadContext& context_;
  bool before_;
};

// The contexts of a node's threads, by waiter number. A context outlives its thread and is used by
// a later one, so counters are never lost. A context is made at a thread's first use of Terrane,
// which may be a fault; so its memory comes directly from the kernel.
class ThreadRegistry {
 public:
  static constexpr std::uint32_t kMaxThreads = 4096;

  // on_end: called by each thread with a context when the thread ends.
  explicit ThreadRegistry(std::function<void(ThreadContext&)> on_end = {});
  ThreadRegistry(const ThreadRegistry&) = delete;
  ~ThreadRegistry();

  // The calling thread's context. With more than kMaxThreads threads at once it ends the process
  // with an error message.
  ThreadContext& current();
  // The context with which the calling thread runs an operation while the operation of its own
  // context, `context`, waits. It remains the deputy of `context`.
  ThreadContext& deputy(ThreadContext& context);
  // Another context for the calling thread until leave_handler(): for a signal handler of the
  // program, which runs while the operation of the thread's own context waits. The former one.
  ThreadContext& enter_handler();
  void leave_handler(ThreadContext& before);
  ThreadContext& at(protocol::WaiterId waiter) const { return *contexts_[waiter.value]; }

  // Whether a context with that number exists; for numbers from the network.
  bool has(std::uint32_t waiter) const { return waiter < made_.load(std::memory_order_acquire); }

  template <typename Function>
  void for_each(Function function) const {
    std::uint32_t count = made_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) function(*contexts_[i]);
  }

  // From now on every thread counts in `sites`, too.
  void count_sites(SiteCounters* sites) {
    std::lock_guard hold(mutex_);
    sites_ = sites;
    for_each([sites](ThreadContext& context) { context.counters.sites = sites; });
  }

  // The number of this registry among those that the process has had, from 1.
  std::uint64_t serial() const { return serial_; }
  // Called when a thread that has a context ends.
  void give_back(ThreadContext& context);

 private:
  ThreadContext& make();

  std::uint64_t serial_;
  SiteCounters* sites_ = nullptr;
  std::function<void(ThreadContext&)> on_end_;
  std::mutex mutex_;
  ThreadContext* contexts_[kMaxThreads] = {};
  std::atomic<std::uint32_t> made_{0};
  std::vector<ThreadContext*> idle_;
};

}  // namespace terrane::runtime
