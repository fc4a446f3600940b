#pragma once

#include "protocol/hlrc.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

struct PagesConfig {
  NodeId self;
  std::uint32_t nodes = 1;
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
  Pages(const PagesConfig& config, const HlrcMemory& memory)
      : BlockLocks(memory.entries), config_(config), reached_(memory.reached) {}
  Pages(const Pages&) = delete;

  // Makes the page accessible to a thread that faulted on it, until it is recalled: which may be
  // before the thread runs again.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // Carries out a Recall. waits: for who holds the page's lock, which waits for nobody; else false
  // where there is one, and nothing is done.
  Task<bool> yield(Strand& s, Recall recall, bool waits);

 private:
  Task<std::uint64_t> find_home(Strand& s, std::uint64_t block);
  Task<bool> install(Strand& s, std::uint64_t block, NodeId home, Access granted);
  Task<bool> show(Strand& s, std::uint64_t block, Access access, bool upgrade);
  Task<bool> write_back(Strand& s, std::uint64_t block, NodeId home);
  Task<bool> withdraw(Strand& s, std::uint64_t block, const Recall& recall);
  bool reaches(NodeId node) const { return reached_ == nullptr || reached_[node.value]; }

  PagesConfig config_;
  const bool* reached_;
};

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
