#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "platform/ticks.h"
#include "protocol/core/object_ids.h"
#include "runtime/engine.h"
#include "runtime/memory_share.h"
#include "runtime/outcome.h"
#include "runtime/stack_guards.h"
#include "runtime/statistics.h"

namespace terrane::runtime {

struct Allocation {
  protocol::RegionPolicy policy;
  std::string_view name;
  bool collective = false;
};

// A stretch of an allocation, and where the program is to see it.
struct Pane {
  void* region = nullptr;
  std::uint64_t bytes = 0;
  void* address = nullptr;
};

struct Totals;

// What threads have done so far, for a report by the phases of a program.
struct Work {
  std::uint64_t faults = 0, fetched = 0, refreshed = 0, unused = 0, flushed = 0;  // pages
  std::uint64_t flushed_bytes = 0, messages = 0;
  std::uint64_t waited_ns = 0;  // the caller: for pages, locks and barriers, and in the protocol
};

// What a token is for: the program's locks and each kind of count have numbers of their own.
enum class CountKind : std::uint64_t { kCounter = 1, kFlag, kSemaphore, kCondition };
constexpr LockId count_id(CountKind kind, std::uint32_t number) {
  return LockId{static_cast<std::uint64_t>(kind) << 32 | number};
}

// One process's place in a job: everything between the C interface and the layers below. Owns them
// all. Every method may be called by any thread at any time.
class Node {
 public:
  static base::Result<std::unique_ptr<Node>> join();
  ~Node();
  Node(const Node&) = delete;

  NodeId self() const { return bootstrap_->self(); }
  // An atomic operation on an aligned word; `before`: what it was.
  Outcome atomic(const void* address, protocol::AtomicOp op, std::uint64_t& before);
  std::uint32_t nodes() const { return bootstrap_->nodes(); }
  // As the program and the protocol see them.
  const protocol::Clusters& clusters() const { return core_->clusters(); }
  // Where the program sees shared memory.
  const void* shared_base() const { return space_->base(); }
  std::uint64_t shared_bytes() const { return space_->bytes(); }
  // How much shared memory this node keeps; ~0: nobody has said.
  std::uint64_t memory_bytes() const { return memory_[self().value].limit_bytes; }

  Outcome allocate(std::uint64_t bytes, const Allocation& options, void*& address);
  Outcome free(void* address);
  // The program sees each stretch at its address from now on, in place of what was mapped there.
  // Whole blocks of allocations that no thread of this node has touched yet; once, while no other
  // thread of the program runs. Every node places the same before any touches one.
  Outcome place(const std::vector<Pane>& panes);
  Outcome lock(LockId lock);
  Outcome unlock(LockId lock);
  // Takes in the messages that are here and serves other nodes, for a thread that computes between.
  void look();
  // Counts, by the numbers of their tokens (CountKind).
  Outcome change_count(LockId count, protocol::CountOp op, std::int64_t operand,
                       std::int64_t* before = nullptr);
  Outcome await_count(LockId count, std::int64_t at_least);
  bool take_units(LockId count, protocol::Units units, WaitLimit limit);
  Outcome wait_condition(LockId condition, LockId lock);
  Outcome signal_condition(LockId condition, bool all);
  // Whether the calling thread is in one of these already: a signal handler has interrupted it.
  bool is_inside() { return threads_.current().is_inside; }
  // The same for objects of the C library's threads (protocol/core/object_ids.h), whose callers
  // make no sentences of what is usual. lock_until: kOk, kHeldAlready, kBusy or kExpired; until_ns:
  // of platform::now_ns(), 0: the call does not wait, ~0: it waits for ever.
  protocol::LockResult lock_until(LockId mutex, std::uint64_t until_ns);
  protocol::LockResult unlock_held(LockId mutex);
  protocol::LockResult wait_condition_until(LockId condition, LockId mutex, WaitLimit limit);
  protocol::Arrival arrive(LockId barrier);
  Outcome barrier(BarrierId barrier, std::uint32_t threads_here);
  // The same, and a reduction of what all threads bring: `values` to `out`, which may be the same.
  Outcome barrier_reduce(BarrierId barrier, std::uint32_t threads_here,
                         const protocol::Contribution& contribution, std::byte* out);
  // The same barrier where one thread at most gives bytes (a multiple of 8), which all get: `got`
  // is empty where none did.
  Outcome barrier_broadcast(BarrierId barrier, std::uint32_t threads_here,
                            std::span<const std::byte> given, std::vector<std::byte>& got);
  // By a thread of node 0 that then enters the barrier as the last one there: waits until all other
  // threads wait in it, and sees what they wrote.
  Outcome gather(BarrierId barrier, std::uint32_t threads_here);
  Outcome touch(const void* address, std::uint64_t bytes, bool write);
  Outcome evict(const void* address, std::uint64_t bytes);

  // An access to the block at this address is the overflow of the stack above it, from now on. At
  // most StackGuards::kMost of them; more are not watched.
  void guard(const void* block);

  // Collective: waits for all, then leaves. Nothing may be called afterwards.
  void leave();
  // Tells the launcher that the job ends now, with `code`; this process is to exit soon.
  void end(int code) { bootstrap_->ending(code); }
  // Tells it one sentence about why the job cannot go on, and ends this process.
  [[noreturn]] void fail(std::string_view sentence) {
    bootstrap_->fail(sentence, 1);
    std::abort();
  }
  std::uint32_t nodes_on_host() const { return bootstrap_->nodes_on_host(); }
  std::string_view host_name(NodeId node) const { return bootstrap_->host_name(node); }
  Totals totals() const;
  // Whether a report is wanted (--stats). The pages that this node has written; nullptr: it is not.
  PageWrites* page_writes() const { return sites_ == nullptr ? nullptr : &sites_->writes(); }
  // What the calling thread has done; and, where asked for, all of the runtime's own threads here.
  Work work(bool with_own_threads);
  // Where the program sees a block of an allocation that it has not placed elsewhere, and the
  // allocation, as far as this node knows; without blocks: none holds it.
  std::byte* address_of(std::uint64_t block) const { return space_->address_of(block); }
  protocol::Region allocation_of(std::uint64_t block) const {
    return engine_->allocation_of(block);
  }
  std::uint64_t block_bytes() const { return space_->unit(); }
  // The calling thread is one of the runtime's, of that name, and not of the program.
  void set_role(const char* role) { threads_.current().role = role; }

 private:
  Node() = default;
  base::Result<> start();
  base::Result<> wire_up(const Options& options);
  void end_without(const bootstrap::News& news);
  static platform::FaultVerdict on_fault(void* context, std::uint64_t offset,
                                         platform::Access wanted);
  platform::FaultVerdict fault(std::uint64_t offset, platform::Access wanted);
  protocol::FaultResult make_present(ThreadContext& context, BlockId block,
                                     protocol::Access wanted);
  [[noreturn]] void out_of_memory(NodeId node, std::uint64_t block);
  Outcome fits_memory(std::uint64_t bytes, const Allocation& options) const;
  Outcome check_range(const void* address, std::uint64_t bytes, const char* what,
                      protocol::BlockRange& blocks);
  template <typename Start>
  auto synchronise(Waiting waiting, Start start);
  void thread_ended(ThreadContext& context);
  template <typename Acquire>
  protocol::LockResult count_lock(LockId lock, Acquire acquire);
  void report() const;
  template <typename Start>
  Outcome at_barrier(BarrierId barrier, std::uint32_t threads_here, Start start);
  void account(ThreadContext& context, Counter Counters::*waiting, std::uint64_t from);
  std::uint64_t ns_since(std::uint64_t from) const {
    return scale_.duration_ns(platform::ticks() - from);
  }

  // Bottom-up: destroyed top-down.
  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
  ThreadRegistry threads_{[this](ThreadContext& context) { thread_ended(context); }};
  std::atomic<bool> left_{false};
  std::unique_ptr<PageSpace> space_;
  std::vector<MemoryShare> memory_;  // by node
  std::unique_ptr<transport::Transport> transport_;
  std::unique_ptr<protocol::Core> core_;
  std::unique_ptr<protocol::Predictor> predictor_;
  std::unique_ptr<protocol::Hlrc> hlrc_;
  std::unique_ptr<protocol::sc::Pages> sc_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<SiteCounters> sites_;  // both: where a report is wanted
  std::unique_ptr<LockCounters> locks_;
  std::atomic<std::uint32_t> collective_{0};
  StackGuards guards_;
  std::uint64_t joined_ns_ = 0;
  platform::TickScale scale_;  // as it was when the node had joined: short times need no better
};

// A node's counters summed over its threads.
struct Totals {
  std::uint64_t pages_fetched, read_faults, write_faults, pages_flushed, bytes_flushed, notices,
      pages_invalidated, pages_evicted, lock_acquires, barriers, messages_sent, message_bytes_sent,
      fetch_ns, lock_ns, barrier_ns, handler_ns, overhead_ns, elapsed_ns;
};

}  // namespace terrane::runtime
