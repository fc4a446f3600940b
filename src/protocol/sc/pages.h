#pragma once

#include "protocol/steps/block_locks.h"
#include "protocol/steps/block_memory.h"
#include "protocol/steps/found_region.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

struct PagesConfig {
  NodeId self;
  std::uint64_t blocks = 0;
};

// A node's half that touches pages of regions with sequential consistency; what travels in messages
// is machine.h's. At any moment a page is in the views of any number of nodes that read it, or of
// one that writes it; the home's memory holds its bytes unless a node may write them.
//
// Every public function is an operation of one thread, as Hlrc's are. They share with it the
// entries of the blocks, whose states mean here: kInvalid, in no view; kClean, to be read;
// kWritten, to be written.
class Pages : BlockLocks {
 public:
  // `room`: of this node's memory, which these copies share with those of other protocols.
  Pages(const PagesConfig& config, const BlockMemory& memory, MemoryRoom& room);
  Pages(const Pages&) = delete;

  // Makes the page accessible to a thread that faulted on it, until it is recalled: which may be
  // before the thread runs again.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // Carries out a Recall. waits: for the holder of the page's lock, which waits for nobody; else
  // false where there is one, and nothing is done.
  Task<bool> yield(Strand& s, Recall recall, bool waits);
  // Gives back this node's copies in the range, and their memory, but for those that are just being
  // fetched or taken away. Waits for nobody.
  Task<> evict(Strand& s, BlockRange range);
  // The same of the next copy, round the space, unless a thread has only just got it. Under the
  // consistency lock (hlrc.h).
  Task<> evict_next(Strand& s);

  // Pages that have memory here and their home elsewhere.
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
  bool is_copy(std::uint64_t block) const;
  void add_copy(std::uint64_t block);
  void remove_copy(std::uint64_t block);
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }

  PagesConfig config_;
  const bool* reached_;
  MemoryRoom& room_;
  BlockSet copies_;  // that may have memory here; of freed regions, too, until they are looked at
  std::atomic<std::uint64_t> copy_count_{0};
  std::uint64_t evict_hand_ = 0;  // under the consistency lock
};

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
