#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/engine.h"
#include "runtime/memory_share.h"
#include "runtime/memory_watch.h"
#include "runtime/outcome.h"
#include "runtime/page_looks.h"
#include "runtime/race_reporter.h"
#include "runtime/snapshots.h"
#include "runtime/stack_guards.h"
#include "runtime/statistics.h"
#include "runtime/synchronisation.h"

namespace terrane::runtime {

struct Allocation {
  protocol::RegionPolicy policy;
  std::string_view name;
  bool collective = false;
  // Addresses of which the program uses what it needs: they may be more than the memory of all
  // nodes.
  bool sparse = false;
};

// A part of an allocation, and the address where the program sees it.
struct Pane {
  void* region = nullptr;
  std::uint64_t bytes = 0;
  void* address = nullptr;
};

class PageTrace;
class Recording;
class SharingReporter;
struct Totals;

// What threads have done so far, for a report about the phases of a program.
struct Work {
  std::uint64_t faults = 0, fetched = 0, refreshed = 0, unused = 0, flushed = 0;  // pages
  std::uint64_t flushed_bytes = 0, messages = 0;
  std::uint64_t waited_ns = 0;  // of the caller: for pages, locks, barriers; and protocol work
};

// One process's place in a job: everything between the C interface and the layers below. Owns all
// of them. Any thread may call any method at any time.
class Node : public Synchronisation {
 public:
  static base::Result<std::unique_ptr<Node>> join();
  ~Node();
  Node(const Node&) = delete;

  NodeId self() const { return bootstrap_->self(); }
  // An atomic operation on an aligned word; `before`: its old value.
  Outcome atomic(const void* address, protocol::AtomicOp op, std::uint64_t& before);
  // Makes the pages of the range synchronisation pages (Hlrc::promote), unless they are.
  Outcome promote(const void* address, std::uint64_t bytes);
  // Looks at the pages of this node, synchronisation pages among them.
  PageLooks looks() const { return {*space_, &hlrc_->entry(0)}; }
  std::uint32_t nodes() const { return bootstrap_->nodes(); }
  // The clusters, as the program and the protocol see them.
  const protocol::Clusters& clusters() const { return core_->clusters(); }
  // The address at which the program sees shared memory.
  const void* shared_base() const { return space_->mapping().app(); }
  std::uint64_t shared_bytes() const { return space_->mapping().bytes(); }
  // How much shared memory this node keeps, in bytes; ~0: no limit.
  std::uint64_t memory_bytes() const { return memory_[self().value].limit_bytes; }

  Outcome allocate(std::uint64_t bytes, const Allocation& options, void*& address);
  Outcome free(void* address);
  // From now on the program sees each part at its new address; what was mapped there is replaced.
  // Parts are whole blocks of allocations that no thread of this node has touched. By one thread at
  // a time, and with the same parts on each node before any node touches them.
  Outcome place(const std::vector<Pane>& panes);
  // Whether the calling thread is in an operation of the node. If so, the caller is a signal
  // handler that interrupted it.
  bool is_inside() { return threads_.current().is_inside; }
  // Makes the pages of the range present. kGiveUp: a full node gives kNoMemory.
  enum class WhenFull { kEndTheJob, kGiveUp };
  Outcome touch(const void* address, std::uint64_t bytes, bool write,
                WhenFull full = WhenFull::kEndTheJob);
  Outcome evict(const void* address, std::uint64_t bytes);
  friend struct NodeReport;
  friend int set_rights(const Node& node, void* address, std::uint64_t bytes, int rights);

  // From now on an access to the block at this address counts as an overflow of the stack above it.
  // At most StackGuards::kMost blocks; further ones are not watched.
  void guard(const void* block);

  // Collective: waits for all nodes, then leaves the job. No method but end() may be called
  // afterwards. names: for the reports. Result: the exit code of a program that ends with
  // `code`.
  int leave(const ProgramNames& names = {}, int code = 0);
  // Reports to the launcher that the job ends now, with `code`. This process must exit soon.
  void end(int code);
  // Reports to the launcher in one sentence why the job cannot go on, and ends this process.
  [[noreturn]] void fail(std::string_view sentence);
  std::uint32_t nodes_on_host() const { return bootstrap_->nodes_on_host(); }
  std::string_view host_name(NodeId node) const { return bootstrap_->host_name(node); }
  Totals totals() const;
  // The pages that this node has written; nullptr without a report (--stats, --report).
  PageWrites* page_writes() const {
    return has_stats_ || trace_ != nullptr ? &sites_->writes() : nullptr;
  }
  // What the calling thread has done. with_own_threads: and all of the runtime's own threads here.
  Work work(bool with_own_threads);
  // The address of a block of an allocation that was not placed elsewhere; and the allocation, as
  // far as this node knows (a region without blocks: none contains the block).
  std::byte* address_of(std::uint64_t block) const { return space_->address_of(block); }
  protocol::Region allocation_of(std::uint64_t block) const {
    return engine_->allocation_of(block);
  }
  std::uint64_t block_bytes() const { return space_->unit(); }
  friend void set_names(Node& node, ProgramNames names);
  // Marks the calling thread as a thread of the runtime, with that name, and not of the program.
  void set_role(const char* role) { threads_.current().role = role; }

 private:
  Node() = default;
  base::Result<> start();
  base::Result<> wire_up(const Options& options);
  void watch_memory();
  static platform::FaultVerdict on_fault(void* context, std::uint64_t offset,
                                         platform::Access wanted);
  platform::FaultVerdict fault(std::uint64_t offset, platform::Access wanted);
  protocol::FaultResult make_present(ThreadContext& context, BlockId block, protocol::Access wanted,
                                     WhenFull full = WhenFull::kEndTheJob);
  [[noreturn]] void out_of_memory(NodeId node, std::uint64_t block);
  Outcome check_range(const void* address, std::uint64_t bytes, const char* what,
                      protocol::BlockRange& blocks);
  void thread_ended(ThreadContext& context);
  void report() const;

  // Each uses those above it; destroyed from the last to the first.
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
  bool has_stats_ = false;               // --stats
  std::unique_ptr<SiteCounters> sites_;  // this and locks_: nullptr without a report
  std::unique_ptr<LockCounters> locks_;
  std::unique_ptr<Snapshots> snapshots_;
  std::atomic<Snapshots*> answers_{nullptr};  // the same, once questions can be answered
  std::unique_ptr<PageTrace> trace_;          // nullptr without --report
  std::unique_ptr<Recording> recording_;      // nullptr without a recording
  std::atomic<std::uint32_t> collective_{0};
  StackGuards guards_;
  RaceReporter races_;
  std::unique_ptr<SharingReporter> sharing_;
  MemoryWatch memory_watch_;
  std::uint64_t joined_ns_ = 0;
};

// A node's counters summed over its threads.
struct Totals {
  std::uint64_t pages_fetched, read_faults, write_faults, pages_flushed, bytes_flushed, notices,
      pages_invalidated, pages_evicted, lock_acquires, barriers, messages_sent, message_bytes_sent,
      fetch_ns, lock_ns, barrier_ns, handler_ns, overhead_ns, elapsed_ns;
};

// How the program of the node names its places while it runs (`terrane top`).
void set_names(Node& node, ProgramNames names);

// mprotect for the program on shared memory, at this node: whole pages. 0, or -1 and errno.
int set_rights(const Node& node, void* address, std::uint64_t bytes, int rights);

}  // namespace terrane::runtime
