#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/copies/pushes.h"
#include "protocol/core/central_barrier.h"
#include "protocol/hlrc/acquires.h"
#include "protocol/hlrc/releases.h"
#include "protocol/homes/offers.h"
#include "protocol/node/node_state.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Barriers of all nodes, by messages or in memory. The functions are those of Hlrc with these
// names.
class Barriers {
 public:
  Barriers(NodeState& node, Offers& offers, Pushes& pushes, Releases& releases, Acquires& acquires);
  Barriers(const Barriers&) = delete;

  Task<bool> barrier(Strand& s, BarrierId barrier, std::uint32_t threads_here,
                     Contribution contribution, std::vector<std::byte>* reduced);
  Task<> gather(Strand& s, BarrierId barrier, std::uint32_t threads_here);
  Task<> last_barrier(Strand& s, BarrierId barrier);

 private:
  bool may_hold_in_memory(BarrierId barrier) const;
  bool is_quiet(BarrierId barrier) const;
  bool tries(BarrierId barrier);
  bool may_hold_leases() const;
  Task<bool> hold_in_memory_released(Strand& s, BarrierId barrier, const Contribution& contribution,
                                     std::vector<std::byte>& told);
  Task<bool> hold_in_memory(Strand& s, BarrierId barrier, std::uint64_t learned,
                            const Contribution& contribution, std::vector<std::byte>& told);
  Task<> drop_leases(Strand& s);
  Task<> wait_for_exit(Strand& s, std::uint32_t number);

  // A barrier that may be held in memory. Used by the thread that arrives last at this node.
  struct InMemory {
    bool quiet = false;  // the last round was held, without copies or tracked blocks here
    // The argument of hold_in_memory() in that round, and three counts of that time:
    std::uint64_t learned = 0;
    std::uint64_t changes = 0;      // Core::changes()
    std::uint64_t dirty_count = 0;  // NodeState::dirty_count
    std::uint64_t taken = 0;        // NodeState::taken
    std::optional<bool> tries;      // the predictor's answer to the thread that gathered
  };

  NodeState& node_;
  Offers& offers_;
  Pushes& pushes_;
  Releases& releases_;
  Acquires& acquires_;
  std::atomic<std::uint32_t> barrier_exits_{0};  // exits applied here, times 2; odd: waited for
  InMemory in_memory_[CentralBarrier::kPlaces];
  bool reach_each_other_ = false;  // barriers of this job may be held in memory
  // NodeState::acquired when this node arrived at the barrier whose exit came last.
  std::atomic<std::uint64_t> acquired_before_{0};
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
