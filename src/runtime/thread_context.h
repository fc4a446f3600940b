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
#include "runtime/waiting/backoff.h"
#include "runtime/waiting/limit.h"
#include "transport/transport.h"
#include "wire/message.h"

namespace terrane::runtime {

// A cache line: the kernels of differences want memory aligned to it.
struct alignas(64) Line {
  std::byte bytes[64];
};

// What a thread has asked another node for by a message, and the answer.
struct Exchange {
  wire::Kind answer{};  // the message that ends it
  NodeId from;
  protocol::BlockRange blocks;
  bool stages = false;  // fetched blocks go to the staging buffer
  std::variant<protocol::FetchResult, protocol::Owner, protocol::AtomicAnswer> result;
  std::atomic<std::uint32_t> done{1};
};

// The pages with sequential consistency that a thread got last: none is given away before the
// thread has had time to use it. Two, since an instruction may need two at once. Others may ask
// until when one is kept.
class LatestPages {
 public:
  // The page was installed just now.
  void add(std::uint64_t block, std::uint64_t now_ns);
  // The thread has gone on to an operation: what it needed the pages for has been done. Whether
  // there are any.
  bool holds() const { return holds_; }
  void let_go(std::uint64_t now_ns);
  // Until when the page is to stay; 0: it need not.
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

// What a thread waits for, for who waits long.
struct Waiting {
  enum class For : std::uint8_t {
    kNothing,
    kBarrier,
    kLock,
    kCounter,
    kFlag,
    kSemaphore,
    kCondition,
    kObject,  // one of the C library's, in shared memory
    kLeaving
  };
  For what = For::kNothing;
  std::uint64_t id = 0;    // of the barrier, or the token
  std::int64_t until = 0;  // of a counter
};

// A node that a message has gone to, and whom that is to wake there.
struct Unrung {
  NodeId to;
  transport::Sleepers whom;
};

// What one thread of a node needs: the strand of its operations, where it waits, its counters, its
// last error.
struct ThreadContext {
  explicit ThreadContext(protocol::WaiterId id) : strand(id), serving(id) {}

  protocol::Strand strand;
  protocol::Strand serving;         // of what the thread does for others, also while it waits
  protocol::Nesting nesting;        // what of that it may do just now
  ThreadContext* deputy = nullptr;  // with which it does that while its own operation waits
  bool is_inside = false;           // in an operation of the program; read by its signal handlers
  bool is_handler = false;          // it shares the processor of a thread of the program
  bool is_dropper = false;          // of these, the one that makes no releases
  LatestPages latest_pages;
  std::atomic<std::uint32_t> resumed{
      0};  // the call was answered: `value` is the result, and the payload is in the strand
  std::uint64_t value = 0;
  // 1: whoever answers has to interrupt the transport's sleep; kSleepsAlone: to wake it on
  // `resumed`.
  static constexpr std::uint32_t kSleepsAlone = 2;
  std::atomic<std::uint32_t> sleeping{0};
  // The thread polls, from the first wait of an operation to its end: what comes in between waits
  // no longer than its steps take, and wakes nobody (Transport::attend).
  bool attends = false;
  std::uint64_t polled_ns = 0;
  bool took = false;             // messages, by its latest polls ...
  bool took_urgent = false;      // ... of which some could not wait for another thread of this node
  std::vector<Unrung> unrung;    // sent to, and not woken yet if they sleep
  PushesOut pushes_out;          // of a departure
  std::vector<Line> push_pages;  // a run that is collected
  Exchange exchange;
  Exchange posted[protocol::PostFetch::kMost +
                  1];  // asked for, and not waited for yet: blocks.count > 0
  // One that is not over, or nullptr.
  const Exchange* open_exchange() const {
    if (exchange.done.load() == 0) return &exchange;
    for (const Exchange& one : posted)
      if (one.done.load() == 0) return &one;
    return nullptr;
  }
  protocol::FlushesUnderWay flushes;
  Counters counters;
  Waiting waiting;
  waiting::Backoff tries;                  // of what was in use, one after the other
  WaitLimit limit;                         // when a sleep that may expire does so
  std::atomic<std::int32_t> thread{0};     // the kernel's number of the thread that has it
  std::uint64_t waited_ns = 0;             // of the operation under way
  Counter lived_ns;                        // of threads that had it before
  std::atomic<std::uint64_t> since_ns{0};  // the thread that has it has had it; 0: none has
  std::atomic<const char*> role{nullptr};  // of a thread of the runtime
};

// While the thread is in an operation of the program.
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

// The contexts of a node's threads, by waiter number. A context outlives its thread and serves the
// next one, so counters are never lost. Made at a thread's first use of Terrane, which may be a
// fault: memory comes from the kernel directly.
class ThreadRegistry {
 public:
  static constexpr std::uint32_t kMaxThreads = 4096;

  // `on_end`: called by each thread that has a context when it ends.
  explicit ThreadRegistry(std::function<void(ThreadContext&)> on_end = {});
  ThreadRegistry(const ThreadRegistry&) = delete;
  ~ThreadRegistry();

  // The calling thread's context. Ends the process with a sentence beyond kMaxThreads threads at
  // once.
  ThreadContext& current();
  // The context with which the calling thread, whose own one is `context`, runs an operation while
  // its own operation waits. It stays with `context`.
  ThreadContext& deputy(ThreadContext& context);
  ThreadContext& at(protocol::WaiterId waiter) const { return *contexts_[waiter.value]; }

  // Whether there is a context of that number, for numbers from the network.
  bool has(std::uint32_t waiter) const { return waiter < made_.load(std::memory_order_acquire); }

  template <typename Function>
  void for_each(Function function) const {
    std::uint32_t count = made_.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < count; ++i) function(*contexts_[i]);
  }

  // Every thread counts there, too, from now on.
  void count_sites(SiteCounters* sites) {
    std::lock_guard hold(mutex_);
    sites_ = sites;
    for_each([sites](ThreadContext& context) { context.counters.sites = sites; });
  }

  // Of the registries that this process has had, from 1.
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
