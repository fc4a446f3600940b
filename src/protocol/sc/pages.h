#pragma once

#include "protocol/steps/block_locks.h"
#include "protocol/steps/block_memory.h"
#include "protocol/steps/found_region.h"
#include "protocol/steps/ordering.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

struct PagesConfig {
  NodeId self;
  std::uint64_t blocks = 0;
  // Whether a page can enter the view so that a store to it faults. If not, a node that reads a
  // synchronisation page gets it as its only holder.
  bool protects = true;
  // Whether the node finds its writes by scan (WriteDetection::kScan).
  bool seals = false;
  bool sequential = false;  // as HlrcConfig::sequential: no release goes with a page
};

// The part of a node that touches pages of regions with sequential consistency; the part that
// speaks in messages is machine.h. At any moment a page is in the application views of any number
// of nodes that may read it, or of one node that may write it. The home's memory has its bytes,
// unless another node may write them.
//
// Every public function is an operation of one thread, as Hlrc's are, and uses the same block
// entries. The states mean here: kInvalid, in no view; kClean, may be read; kWritten, may be
// written.
class Pages : BlockLocks {
 public:
  // `room`: for copies in this node's memory, shared with other protocols. `ordering`: what goes
  // with synchronisation pages.
  Pages(const PagesConfig& config, const BlockMemory& memory, MemoryRoom& room, Ordering& ordering);
  Pages(const Pages&) = delete;

  // Makes the page accessible to a thread that faulted on it, until the page is recalled; that may
  // be before the thread runs again.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // Carries out a Recall. waits: waits for the holder of the page's lock, which itself waits for
  // nobody. Otherwise, if there is a holder, it does nothing and returns false.
  Task<bool> yield(Strand& s, Recall recall, bool waits);
  // The same for a synchronisation page: makes a release when the page can be written no more, and
  // only then tells its home. By a thread that may make a release.
  Task<> yield_synchronised(Strand& s, Recall recall);
  // Gives back this node's copies in the range, and their memory, except pages whose lock is held.
  // Waits for nobody.
  Task<> evict(Strand& s, BlockRange range);
  // The same for the next copy, by a clock hand, unless a thread has only just got it. Under the
  // consistency lock (hlrc.h).
  Task<> evict_next(Strand& s);

  // Number of pages that have memory here and their home on another node. Any thread may call it.
  std::uint64_t copies() const { return copy_count_.load(std::memory_order_relaxed); }

 private:
  Task<std::uint64_t> find_home(Strand& s, std::uint64_t block);
  Task<> install(Strand& s, std::uint64_t block, NodeId home, Access granted);
  Task<> show(Strand& s, std::uint64_t block, Access access, bool upgrade);
  Task<BlockState> give_up(Strand& s, const Recall& recall, bool asked);
  Task<> withdraw(Strand& s, std::uint64_t block, const Recall& recall);
  Task<> write_back(Strand& s, std::uint64_t block, NodeId home);
  Task<bool> give_back(Strand& s, std::uint64_t block, bool spares);
  Task<BlockState> give_back_held(Strand& s, std::uint64_t block);
  Task<bool> home_has_room(Strand& s, std::uint64_t block);
  bool seals(std::uint64_t block) const;
  bool is_copy(std::uint64_t block) const;
  void add_copy(std::uint64_t block);
  void remove_copy(std::uint64_t block);
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }

  PagesConfig config_;
  const bool* reached_;
  MemoryRoom& room_;
  Ordering& ordering_;
  BlockSet copies_;  // pages that may have memory here; some may be of freed regions
  std::atomic<std::uint64_t> copy_count_{0};
  std::uint64_t evict_hand_ = 0;  // clock hand; under the consistency lock
};

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
