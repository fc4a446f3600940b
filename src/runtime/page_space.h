#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/diff.h"
#include "platform/fault_source.h"
#include "platform/mapping.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/predict/make_predictor.h"
#include "runtime/access_keeper.h"
#include "runtime/counters.h"
#include "runtime/home_check.h"
#include "runtime/memory_share.h"
#include "runtime/options.h"
#include "transport/transport.h"

namespace terrane::runtime {

// Sparse private memory, initially zero, not inherited by a child of fork(). Owns the mapping.
class SparseMemory {
 public:
  SparseMemory() = default;
  SparseMemory(const SparseMemory&) = delete;
  ~SparseMemory();

  base::Result<> map(std::uint64_t bytes);
  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

class Recording;

// Wakes a thread that looks at the machine's memory when a node has come to keep more than it did
// at the last look.
struct Growth {
  std::atomic<std::uint32_t> wakes{0};              // that thread waits for this to change
  std::atomic<std::uint64_t> look_at_bytes{~0ull};  // kept: wakes it once, then is ~0
};

// One node's part of the shared space on real memory: the pages in both views, their twins, the
// words that peers read, and the protocol's tables. PageSteps performs one-sided steps on it.
class PageSpace {
 public:
  // Whether the process's limit of address space, if there is one, permits what a node needs beside
  // the other nodes of its host. The error names the limit and the size of a space that would fit.
  static base::Result<> fits_addresses(const Options& options, std::uint32_t nodes_on_host);
  static base::Result<std::unique_ptr<PageSpace>> create(const Options& options, NodeId self,
                                                         std::uint32_t nodes);

  // The regions that the transport exports: pages, control.
  std::vector<transport::ExportedRegion> exported() const;
  // From now on steps may name peers. one_sided: reach a peer's memory directly where possible. If
  // it is false, all access to peers is by messages.
  void connect(transport::Transport& transport, bool one_sided);
  // Whether steps for the node are performed directly on its memory; otherwise by RemotePages.
  bool reaches(NodeId node) const { return reached_[node.value]; }
  bool reaches_all() const { return reaches_all_; }
  // Sets how much each node keeps; called before the first step. Pages of a home may take an eighth
  // more, because other nodes' stores to them cannot wait. If memory is short nevertheless, the
  // thread that stores the page calls `exhausted`, which does not return.
  using Exhausted = std::function<void(NodeId home, std::uint64_t block)>;
  // Later calls, by any one thread, change how much that is; then `exhausted` is empty.
  void bound(const std::vector<MemoryShare>& shares, Exhausted exhausted);
  // From now on faults of the application view call the handler.
  base::Result<> watch(platform::FaultHandler handler, void* context);
  // From now on the application sees each range of blocks at its new address; what was mapped there
  // is replaced. After watch(), by one thread at a time. The ranges do not overlap, end before
  // sc_first(), and contain only blocks that no thread has touched here, or touches meanwhile.
  struct Placed {
    protocol::BlockRange blocks;
    void* address = nullptr;
  };
  base::Result<> place(std::vector<Placed> panes);

  protocol::BlockMemory protocol_memory();
  // Memory for the predictor's history of each block, initially zero.
  protocol::BlockHistory* history();
  // How writes to the blocks before sc_first() are detected. Later blocks: always by faults.
  protocol::WriteDetection detection() const;
  bool enters_protected() const { return source_->enters_protected(); }

  // The words of the in-memory barrier with this number (below CentralBarrier::kPlaces). Only if
  // all nodes are on one host.
  protocol::CentralBarrier central_barrier(std::uint32_t number);

  // Copies our copy of the block, which other threads may be writing, to `out` (unit() bytes).
  void read_page(std::uint64_t block, std::byte* out);
  // Stores fetched whole blocks into our copies, or (stages) into the staging buffer, for Merge.
  void write_pages(protocol::BlockRange blocks, const std::byte* from, bool stages);
  // Stores one block's bytes into the staging buffer; `slot`: its index within the run.
  void stage(std::uint64_t slot, const std::byte* from);
  // Writes the difference of our copy from its twin to `out` (platform::diff_bound(unit()) bytes).
  // Returns its size in bytes. update_twin: the twin gets the same changes.
  std::size_t encode(std::uint64_t block, bool update_twin, std::byte* out);
  // Performs an atomic operation in the page of a home that can be reached. Returns the old word.
  std::uint64_t atomic(NodeId home, std::uint64_t block, const protocol::AtomicOp& op);
  // Stores a difference into our copy; false if it is malformed.
  bool apply(const protocol::ApplyDiff& step);
  // Stores a whole page, which no thread here sees meanwhile; false if the bytes are no whole page.
  bool place(std::uint64_t block, std::span<const std::byte> page);

  NodeId self() const { return self_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint64_t blocks() const { return blocks_; }
  // Regions with sequential consistency begin at this block.
  std::uint64_t sc_first() const { return sc_first_; }
  std::uint64_t unit() const { return unit_; }
  const platform::DualMapping& mapping() const { return mapping_; }
  // The address at which the program sees a block.
  std::byte* address_of(std::uint64_t block) const { return mapping_.app_at(block * unit_); }
  // The offset in shared memory of [address, address + bytes); nullopt if that range is not one
  // part of shared memory.
  std::optional<std::uint64_t> offset_of(const void* address, std::uint64_t bytes) const {
    return mapping_.offset_of(address, bytes);
  }
  bool is_over_limit() const {
    return peers_[self_.value].control.kept->load(std::memory_order_relaxed) >= limit_blocks_;
  }
  // Whether a block that is in no allocation was in one before. Nodes drop freed blocks of any
  // home.
  bool was_freed(std::uint64_t block) const { return known_.contains(block); }
  // Bytes of shared pages, copies and twins that a node of this host keeps now.
  std::uint64_t kept_bytes(NodeId node) {
    return control_of(node).kept->load(std::memory_order_relaxed) * unit_;
  }

 private:
  friend class PageSteps;
  friend struct KeptPages;
  friend struct ProgramRights;
  friend struct CheckedPages;
  friend struct WatchedPages;
  friend struct RecordedPages;
  friend class PageLooks;
  friend void show_to_debuggers(const PageSpace* space);

  // What peers access beside the pages.
  struct Control {
    std::atomic<std::uint32_t>* words = nullptr;   // home words
    std::atomic<std::uint32_t>* owners = nullptr;  // directory: owner + 1
    protocol::BlockSet wanted;
    protocol::BlockSet populated;                     // blocks whose page has memory
    std::atomic<std::uint32_t>* flushing = nullptr;   // threads of the node that store at homes
    std::atomic<std::uint32_t>* announced = nullptr;  // announcements that the node has counted
    std::atomic<std::uint64_t>* kept = nullptr;       // pages and twins with memory, in blocks
    std::byte* barriers = nullptr;                    // a cache line for each word
  };

  PageSpace(const Options& options, NodeId self, std::uint32_t nodes);
  std::uint64_t control_bytes() const;
  std::uint64_t table_bytes() const;
  Control control_at(std::byte* data) const;
  std::byte* pages_of(NodeId node);
  Control& control_of(NodeId node);

  bool populate(protocol::BlockRange blocks);
  void punch(protocol::BlockRange blocks, bool evicted, Counters& counters);
  void drop_twins(protocol::BlockRange blocks);
  void add_twin(std::uint64_t block);
  void write_pages(protocol::BlockRange blocks, const std::byte* from);
  void back_home(NodeId home, std::uint64_t block);
  bool waits_for_room(const Control& control, NodeId home) const;
  bool populate_home(NodeId home, std::uint64_t block);
  bool give_memory(Control& control, NodeId home, std::uint64_t block);
  bool machine_has_more(std::uint64_t kept);

  // Calls function(source, span) for each part of the range that one fault source watches: the
  // range is cut where a pane begins or ends. It lies on one side of sc_first().
  template <typename Function>
  void by_source(protocol::BlockRange blocks, Function function) const;
  platform::Span span(protocol::BlockRange blocks) const {
    return {blocks.first * unit_, blocks.count * unit_};
  }

  NodeId self_;
  std::uint32_t nodes_;
  std::uint64_t unit_;
  std::uint64_t sc_first_;
  std::uint64_t blocks_;
  platform::FaultSourceKind kind_;
  platform::DualMapping mapping_;
  platform::SharedMapping control_mapping_;
  base::UniqueFd control_fd_;
  SparseMemory twins_;
  SparseMemory tables_;
  protocol::BlockSet twinned_;  // blocks whose twin has memory
  // Blocks whose page is reserved, but perhaps not entered in the runtime view yet.
  protocol::BlockSet fresh_;
  protocol::BlockSet known_;  // blocks that had a page here at any time, or were dropped
  std::atomic<std::uint64_t> limit_blocks_{~0ull};  // this node's own limit
  // In blocks: while the node keeps fewer, it need not ask the machine for more memory than its
  // limit.
  std::atomic<std::uint64_t> had_until_{0};
  std::vector<std::atomic<std::uint64_t>> most_blocks_;  // of each node; empty: no bound
  Exhausted exhausted_;
  Growth growth_;
  std::atomic<std::uint32_t> giving_{0};
  std::unique_ptr<HomeCheck> check_;
  std::unique_ptr<AccessKeeper> accesses_;
  Recording* recording_ = nullptr;
  std::unique_ptr<platform::FaultSource> source_;
  std::unique_ptr<platform::FaultSource> sc_source_;
  platform::FaultHandler handler_ = nullptr;
  void* handler_context_ = nullptr;
  struct Pane {
    protocol::BlockRange blocks;
    platform::FaultSource* source;
  };
  using Panes = std::vector<Pane>;  // in the order of their blocks
  std::vector<std::unique_ptr<platform::FaultSource>> pane_sources_;
  std::vector<std::unique_ptr<Panes>> owned_panes_;  // the last are those of now
  std::atomic<const Panes*> panes_{nullptr};
  const platform::DiffKernels& diff_;
  transport::Transport* transport_ = nullptr;
  struct Peer {
    std::atomic<std::byte*> pages{nullptr};
    std::atomic<bool> connected{false};
    Control control;
  };
  std::vector<Peer> peers_;
  bool reaches_all_ = true;
  std::unique_ptr<bool[]> reached_;      // by node
  SparseMemory staging_;                 // bytes for copies; under the consistency lock
  std::vector<platform::Span> written_;  // result of a scan; under the consistency lock
};

// What homes of this node need that look for races (HlrcConfig::check_races).
struct CheckedPages {
  // nullptr: they do not.
  static HomeCheck* check(const PageSpace& space) { return space.check_.get(); }
  // nullptr: what threads access is not looked at.
  static AccessKeeper* accesses(const PageSpace& space) { return space.accesses_.get(); }
  static const protocol::BlockEntry* entries(const PageSpace& space) {
    return reinterpret_cast<const protocol::BlockEntry*>(space.tables_.data());
  }
  static void configure(const PageSpace& space, protocol::HlrcConfig& config) {
    config.check_races = check(space) != nullptr;
    config.check_accesses = accesses(space) != nullptr;
  }
  // nullptr: the twin has no memory.
  static std::byte* twin(PageSpace& space, std::uint64_t block) {
    bool has = space.twinned_.contains(block);
    return has ? space.twins_.data() + block * space.unit_ : nullptr;
  }
};

// What the program asks for by mprotect on shared memory.
struct ProgramRights {
  // At this node, on whole pages: 0, or -1 and errno.
  static int set(const PageSpace& space, void* address, std::uint64_t bytes, int rights);
};

// What a node had of pages before others come (runtime/sharing_watch.h).
struct WatchedPages {
  // nullptr: it had nothing.
  static const std::byte* before(PageSpace& space, std::uint64_t block) {
    bool has = space.control_of(space.self_).populated.contains(block);
    if (!has || space.fresh_.contains(block)) return nullptr;
    return space.mapping_.runtime() + block * space.unit_;
  }
  // Pages come from their home, which has their bytes at `now`.
  static void arrive(PageSpace& space, const Counters& counters, NodeId home,
                     protocol::BlockRange blocks, const std::byte* now);
};

// What notes the use of pages (runtime/recording.h); nullptr: nothing does.
struct RecordedPages {
  static Recording* recording(const PageSpace& space) { return space.recording_; }
  // Before the program runs; it outlives the space's use.
  static void set(PageSpace& space, Recording* recording) { space.recording_ = recording; }
  // A release has found that this page may have been changed.
  static void note_written(PageSpace& space, std::uint64_t block);
};

// Which pages have memory at this node, for those who watch it.
struct KeptPages {
  static Growth& growth(PageSpace& space) { return space.growth_; }
  // What the node may keep now of pages, copies and twins; ~0: no limit.
  static std::uint64_t limit_bytes(const PageSpace& space) {
    std::uint64_t blocks = space.limit_blocks_.load(std::memory_order_relaxed);
    return blocks == ~0ull ? blocks : blocks * space.unit_;
  }
  // The next run of them at or after `from`; count 0: there is none.
  static protocol::BlockRange next(PageSpace& space, std::uint64_t from) {
    return space.control_of(space.self_).populated.next_run(from, space.blocks_);
  }
};

}  // namespace terrane::runtime
