#pragma once

#include <atomic>

#include "protocol/core/adoption_requests.h"
#include "protocol/core/announcements.h"
#include "protocol/core/barrier_tree.h"
#include "protocol/core/counts.h"
#include "protocol/core/expiry.h"
#include "protocol/core/interval_log.h"
#include "protocol/core/lock_manager.h"
#include "protocol/core/notice_requests.h"
#include "protocol/core/offer_requests.h"
#include "protocol/core/region_table.h"
#include "protocol/sc/machine.h"
#include "protocol/steps/clusters.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/outbox.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

struct CoreConfig {
  NodeId self;
  std::uint32_t nodes = 1;
  std::uint64_t blocks = 0;  // of the shared space
  std::uint32_t block_bytes = 4096;
  // Regions with sequential consistency lie from this block on, all others before it.
  std::uint64_t sc_first = ~0ull;
  std::uint32_t sc_named_readers = 8;  // of a page; if more, all nodes are asked (sc/machine.h)
  const bool* reached = nullptr;       // by node: is its memory in reach; nullptr: every node's is
  const std::uint32_t* hosts = nullptr;     // by node, a number for each host; nullptr: all on one
  const std::uint32_t* clusters = nullptr;  // by node, as hosts; all nodes of a host have the same
  std::uint32_t barrier_arity = 4;
  std::uint32_t max_log_ranges = 1 << 16;  // write notices that are kept to be passed on
  // Fences count what they announce in memory, for nodes that reach it (announcements.h).
  bool counts_announcements = false;
};

// The part of a node's protocol that speaks in messages: locks, counts, barriers, notices,
// allocations. A step takes one event and answers with effects; it never waits. The host calls
// step() under one mutex.
class Core {
 public:
  explicit Core(const CoreConfig& config);
  Core(const Core&) = delete;

  void step(const Event& event, Effects& out);

  // The intervals that this node knows. It changes only in steps by the holder of the consistency
  // lock (hlrc.h), which may read it without the mutex.
  const VectorTimestamp& timestamp() const { return log_.timestamp(); }
  // Grows with each interval that this node closes, and each notice set that it learns. Any thread
  // may call it.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // May be asked by any thread.
  const Announcements& announcements() const { return announcements_; }
  const Region* region_of(std::uint64_t block) const { return regions_.known(block); }
  const IntervalLog& log() const { return log_; }
  const LockManager& locks() const { return locks_; }
  const Clusters& clusters() const { return clusters_; }
  const BarrierTree& barriers() const { return barriers_; }
  const sc::Machine& sc() const { return sc_; }
  // What this node knows of the others' room for homes. Any thread may read it.
  const NodeRooms& rooms() const { return adoptions_.rooms(); }
  void check_invariants() const;

 private:
  // False: malformed.
  bool received(NodeId from, Bytes message);
  NodeId sc_home(Bytes message) const;

  CoreConfig config_;
  Clusters clusters_;
  Outbox outbox_;
  IntervalLog log_;
  std::atomic<std::uint64_t> changes_{0};
  LockManager locks_;
  Counts counts_;
  BarrierTree barriers_;
  RegionTable regions_;
  sc::Machine sc_;
  Expiry expiry_;
  OfferRequests offers_;
  NoticeRequests notices_;
  Announcements announcements_;
  AdoptionRequests adoptions_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
