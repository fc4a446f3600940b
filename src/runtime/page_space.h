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
#include "runtime/counters.h"
#include "runtime/memory_share.h"
#include "runtime/options.h"
#include "transport/transport.h"

namespace terrane::runtime {

// Zeroed sparse private memory, never inherited by a forked child. Owns the mapping.
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

// One node's share of the shared space on real memory: the pages in both views, their twins, the
// words that peers read, and the protocol's tables. PageSteps performs one-sided steps on it.
class PageSpace {
 public:
  // Whether this process may have as many addresses as a node takes beside the others of its host;
  // the error names the limit and the size of the space that would fit. Only where there is a
  // limit.
  static base::Result<> fits_addresses(const Options& options, std::uint32_t nodes_on_host);
  static base::Result<std::unique_ptr<PageSpace>> create(const Options& options, NodeId self,
                                                         std::uint32_t nodes);

  // For the transport: pages, control.
  std::vector<transport::ExportedRegion> exported() const;
  // From now on steps may name peers. one_sided: where a peer's memory can be reached it is; else
  // no peer's is, and all goes by messages.
  void connect(transport::Transport& transport, bool one_sided);
  // Whether steps at the node are performed here, on its memory; else by RemotePages.
  bool reaches(NodeId node) const { return reached_[node.value]; }
  bool reaches_all() const { return reaches_all_; }
  // How much each node keeps; first told before anything is performed. A home's page may take an
  // eighth more, since what others store there cannot wait. Where memory is short all the same,
  // `exhausted` is called, by whichever thread stores the page, and does not return.
  using Exhausted = std::function<void(NodeId home, std::uint64_t block)>;
  void bound(const std::vector<MemoryShare>& shares, Exhausted exhausted);
  // Faults of the application view call the handler from now on.
  base::Result<> watch(platform::FaultHandler handler, void* context);
  // The application sees each range of blocks at its address from now on, in place of what was
  // mapped there. Once, after watch(), while no other thread of the program runs; of whole blocks
  // that nobody has touched here, before sc_first(), none in two ranges.
  struct Placed {
    protocol::BlockRange blocks;
    void* address = nullptr;
  };
  base::Result<> place(std::vector<Placed> panes);

  protocol::BlockMemory protocol_memory();
  // Zeroed memory for what the predictor has seen of each block.
  protocol::BlockHistory* history();
  // How writes to the blocks before sc_first() are detected; to those behind always by faults.
  protocol::WriteDetection detection() const;
  bool enters_protected() const { return source_->enters_protected(); }

  // Where the barrier of this number (below CentralBarrier::kPlaces) is held, on one host.
  protocol::CentralBarrier central_barrier(std::uint32_t number);

  // Our copy of the block, which others may be writing, to `out` (unit() bytes).
  void read_page(std::uint64_t block, std::byte* out);
  // Fetched bytes of whole blocks into our copies, or to the staging buffer, for Merge.
  void write_pages(protocol::BlockRange blocks, const std::byte* from, bool stages);
  // Bytes of one block aside, as the block of that number of a run.
  void stage(std::uint64_t slot, const std::byte* from);
  // The difference of our copy to its twin, to `out` (platform::diff_bound(unit()) bytes); its
  // size. update_twin: the twin follows.
  std::size_t encode(std::uint64_t block, bool update_twin, std::byte* out);
  // Does an atomic operation in the page of a node that can be reached; what the word was.
  std::uint64_t atomic(NodeId home, std::uint64_t block, const protocol::AtomicOp& op);
  // Stores a difference into our copy; false when it is malformed.
  bool apply(std::uint64_t block, std::span<const std::byte> diff);
  // Stores a whole page, which nobody here sees meanwhile; false where it is none.
  bool place(std::uint64_t block, std::span<const std::byte> page);

  NodeId self() const { return self_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint64_t blocks() const { return blocks_; }
  // From this block on lie regions with sequential consistency.
  std::uint64_t sc_first() const { return sc_first_; }
  std::uint64_t unit() const { return unit_; }
  std::byte* base() const { return mapping_.app(); }
  // Where the program sees a block.
  std::byte* address_of(std::uint64_t block) const { return mapping_.app_at(block * unit_); }
  // The offset of what the program sees at [address, address + bytes); none where that is not one
  // stretch of shared memory.
  std::optional<std::uint64_t> offset_of(const void* address, std::uint64_t bytes) const {
    return mapping_.offset_of(address, bytes);
  }
  std::uint64_t bytes() const { return mapping_.bytes(); }
  bool is_over_limit() const {
    return peers_[self_.value].control.kept->load(std::memory_order_relaxed) >= limit_blocks_;
  }
  // Of a block in no allocation: whether it was in one. Nodes drop what is freed, wherever it lay.
  bool was_freed(std::uint64_t block) const { return known_.contains(block); }
  // Bytes of shared pages, copies and twins that a node of this host keeps now.
  std::uint64_t kept_bytes(NodeId node) {
    return control_of(node).kept->load(std::memory_order_relaxed) * unit_;
  }

 private:
  friend class PageSteps;

  // What peers reach beside the pages.
  struct Control {
    std::atomic<std::uint32_t>* words = nullptr;   // home words
    std::atomic<std::uint32_t>* owners = nullptr;  // directory: owner + 1
    protocol::BlockSet wanted;
    protocol::BlockSet populated;                    // blocks whose page has memory
    std::atomic<std::uint32_t>* flushing = nullptr;  // threads of the node that store at homes
    std::atomic<std::uint64_t>* kept = nullptr;      // pages and twins, in blocks
    std::byte* barriers = nullptr;                   // a cache line for each word
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

  // Calls function(source, span) for each part of the range that one source watches: ranges are
  // cut at the edges of panes. The range lies on one side of sc_first().
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
  // Blocks whose page was reserved, and is not known to be entered in the runtime view.
  protocol::BlockSet fresh_;
  protocol::BlockSet known_;            // blocks that have ever had a page here, or were dropped
  std::uint64_t limit_blocks_ = ~0ull;  // that this node wants to keep to
  // Beyond it: until when the machine need not be asked whether it has more.
  std::atomic<std::uint64_t> had_until_{0};
  std::vector<std::uint64_t> most_blocks_;  // that each node keeps; empty: no bound
  Exhausted exhausted_;
  std::atomic<std::uint32_t> giving_{0};
  std::unique_ptr<platform::FaultSource> source_;
  std::unique_ptr<platform::FaultSource> sc_source_;
  platform::FaultHandler handler_ = nullptr;
  void* handler_context_ = nullptr;
  struct Pane {
    protocol::BlockRange blocks;
    std::unique_ptr<platform::FaultSource> source;
  };
  using Panes = std::vector<Pane>;  // in the order of their blocks
  std::unique_ptr<Panes> owned_panes_;
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
  SparseMemory staging_;                 // what is being renewed; under the consistency lock
  std::vector<platform::Span> written_;  // scan's answer; under the consistency lock, as scans are
};

}  // namespace terrane::runtime
