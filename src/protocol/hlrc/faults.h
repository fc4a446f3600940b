#pragma once

#include "protocol/copies/memory.h"
#include "protocol/hlrc/adoptions.h"
#include "protocol/hlrc/misses.h"
#include "protocol/homes/home_words.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Page faults: makes a block accessible that a thread could not read or write.
class Faults {
 public:
  Faults(NodeState& node, HomeWords& homes, Memory& memory, Misses& misses, Adoptions& adoptions)
      : node_(node), homes_(homes), memory_(memory), misses_(misses), adoptions_(adoptions) {}
  Faults(const Faults&) = delete;

  // As Hlrc::fault.
  Task<FaultResult> fault(Strand& s, BlockId block, Access wanted);
  // The home's own blocks become present: writable, or protected while they are tracked.
  Task<FaultResult> fault_at_home(Strand& s, BlockRange run, Access wanted);

 private:
  Task<FaultResult> fault_invalid(Strand& s, std::uint64_t block, Access wanted,
                                  MissUnderWay& under_way);
  Access claims_by(Access wanted) const;
  Task<BlockRange> end_offers_behind(Strand& s, std::uint64_t block);
  Task<> remap(Strand& s, BlockRange run);
  Task<> fault_sealed(Strand& s, BlockRange run, Access wanted);
  Task<> first_write(Strand& s, std::uint64_t block);
  Task<BlockRange> lock_remapped(Strand& s, BlockRange run);

  NodeState& node_;
  HomeWords& homes_;
  Memory& memory_;
  Misses& misses_;
  Adoptions& adoptions_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
