#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "protocol/predict/heuristics.h"

namespace terrane::sim {

inline constexpr std::uint32_t kMaxNodes = 16;
inline constexpr std::uint32_t kMaxThreads = 32;
inline constexpr std::uint32_t kMaxLocks = 8;
inline constexpr std::uint32_t kMaxBarriers = 5;
// A program's counts are numbered in this order: kMaxMeetings for phases in which threads wait for
// each other, those for read-write locks and rendezvous up to kObjectCounts, and those for created
// threads up to kMaxCounts.
inline constexpr std::uint32_t kMaxMeetings = 3;
inline constexpr std::uint32_t kObjectCounts = 5;
inline constexpr std::uint32_t kMaxCounts = 7;
inline constexpr std::uint32_t kWordBytes = 8;
// The last two barriers are entered by one thread of each node: by the first, or by the last one.
inline constexpr std::uint32_t kFirstThreads = kMaxBarriers - 2;
inline constexpr std::uint32_t kLastThreads = kMaxBarriers - 1;

// The settings of one history.
struct Setup {
  std::uint32_t nodes = 4;
  std::uint32_t block_bytes = 64;
  std::uint32_t space_blocks = 256;
  std::uint32_t sc_blocks = 0;  // further blocks, for regions with sequential consistency
  std::uint32_t sc_named_readers = 8;
  std::uint32_t sc_evicts_percent = 0;  // of operations: they give back these pages first
  std::uint32_t barrier_arity = 4;
  std::uint64_t limit = ~0ull;  // blocks and twins together that a node wants to keep at most
  std::uint64_t most_notices = 4096;
  std::uint32_t max_log_ranges = 1 << 16;
  std::uint32_t populate_fails_percent = 0;
  std::uint32_t refresh_after = 255;  // misses in a row until a copy is refreshed; 255: never
  std::uint32_t most_refreshes = 15;  // refreshes in a row until a fault must show the use
  std::uint32_t unused_pushes =
      64;  // unused barrier exits until a subscription ends; 0: there are none
  bool migrate = false;
  bool in_memory_barriers = false;  // in-memory barriers are allowed
  std::uint32_t most_unmet = 0;     // rounds by messages after one that was not held, at most
  std::uint32_t patience = 0;       // looks, in the mean, until a node withdraws from one
  std::uint32_t reads_ask = 0;      // blocks read in order until a reader asks for homes; 0: never
  std::uint32_t look_from = 4;  // runs from which on one call looks at all before any is scanned
  std::uint32_t max_run = 16;   // blocks of a message
  std::uint32_t runs_pipelined =
      0;                       // pipelined requests of a miss that continues a sequential stream
  bool late_flushes = false;   // flush messages leave when the thread waits for their answers
  std::uint32_t hosts = 1;     // node n is on host n % hosts, and reaches no memory of other hosts
  std::uint32_t clusters = 1;  // host h is in cluster h % clusters
  bool scan = true;            // write detection by scan, or by fault
  bool enters_protected = true;  // a block can enter the view protected (always so by scan)
  bool entries_vanish = false;   // the machine may remove an entry of the view at any time
  bool racy = false;             // the program has data races
  bool check_races = false;      // homes look for races, and must find what is one
  bool check_accesses = false;   // with check_races: loads are compared with stores, too
  bool sequential = false;       // all that nodes share is in synchronisation pages
  std::uint32_t first_byte = 0;  // each byte that nobody has written; not 0: as of a mapped file
  bool whole_steps = false;      // each step is performed in one piece, without random results
  protocol::Prediction prediction;
  bool predicts_at_random = false;  // by random_predictor.h; `prediction` is not used
  std::uint64_t prediction_seed = 0;

  // Homes with which a node asks others to adopt some.
  std::uint64_t most_homes() const { return limit == ~0ull ? limit : limit / 4; }
  std::uint32_t clusters_used() const { return std::min({clusters, hosts, nodes}); }
};

enum class OpKind : std::uint8_t {
  kLoad,
  kStore,
  kLock,         // at: lock; size: how often the thread tries before it waits
  kUnlock,       // at: lock
  kBarrier,      // at: barrier of all threads; size 1: they reduce `value` in it (one sum for each
                 // `phase`); size 2: the thread whose value is not 0 broadcasts it
  kSideBarrier,  // at: barrier, which one thread of each node enters
  kGather,  // at: barrier that this thread, of node 0, enters next; size 1: it is a side barrier
  kAdd,     // at: count; value
  kSet,     // at: count; value
  kAwait,   // at: count; value: the thread waits until the count is at least that
  kPost,    // at: count, a semaphore or (by size, as of kTake) a read-write lock; value: units
  kTake,    // at: count, a semaphore; value: 0 tries until there is a unit, 1 waits, 2 waits with a
            // deadline until there is one. size 1 or 2: a read-write lock, to read or to write
  kReady,   // at: count, a condition: its predicate holds from now on; under its lock
  kCondition,  // at: count, a condition; value: its lock, which the thread holds. Waits until the
               // predicate holds; size 1: with a deadline, again and again
  kSignal,     // at: count, a condition; value: 1 wakes all waiting threads, 0 one
  kEvict,  // blocks [at, at + size) of the region; value: 1 also gives their memory back; 2 trims
           // the node (size even) or tidies it (size odd) instead
  kAllocate,     // the region; value: the collective call's number, or 0
  kDoomedStore,  // as kStore, to a region that is freed once all such stores are done. No release
                 // comes between, so the free must discard what was written
  kFree,         // the region
  kFreeAgain,    // the region that this thread has just freed: must be refused
  kNowhere,      // an access outside every region: its fault must say so
  kFinalLoad,    // a word at the end, on which all nodes must agree
  kAtomic,       // size: bytes of the word, plus 16 times the kind; value: the operand
  kPrepare,      // at: count of a rendezvous; value: how many threads enter it
  kArrive,       // at: count of a rendezvous, where the thread waits for the others
  kLimit,        // at: the most blocks and twins that the node keeps from now on; frees the others
  // Words of 8 bytes that threads synchronise by, as on one machine:
  kPromote,     // the block becomes a synchronisation page
  kFlagStore,   // value
  kFlagAwait,   // loads until the word is at least `value`
  kFlagSwap,    // exchanges the word for `value` until it was 0: takes a spin lock
  kFlagYields,  // loads this word and another of its region until this one is 0, or the other one
                // is not `value` >> 32; value: in its lower half, the other word's place (Peterson)
  kFence,
  kFenceAwait,  // loads the word, and makes a fence behind each load, until it is at least `value`
};

// One operation of a thread. An address is a byte of a region, because the place of a region is
// known only once it is allocated.
struct Op {
  OpKind kind = OpKind::kLoad;
  std::uint8_t size = 0;
  std::uint8_t region = 0;
  std::uint8_t phase = 0;  // the barrier phase that it belongs to; for shrinking
  std::uint32_t at = 0;
  std::uint64_t value = 0;
  std::optional<std::uint64_t> expected = {};  // what a load or atomic operation must find
};

struct RegionPlan {
  std::uint32_t blocks = 0;
  std::uint32_t homes = 0;        // protocol::Homes
  std::uint32_t home = 0;         // the node, or the cluster, where homes are explicit
  std::uint32_t protocol = 0;     // protocol::Protocol
  std::uint32_t propagation = 0;  // protocol::Propagation
  std::string name = {};          // in traces; empty: "r" and its number
  bool planted = false;           // written by two nodes at once, in each of its words

  bool sc() const { return protocol == 2; }
};

// A random parallel program: the operations of each thread, in their order. It has no data races
// unless setup.racy.
struct Program {
  Setup setup;
  std::vector<RegionPlan> regions;
  std::vector<std::uint32_t> thread_node;  // node of each thread; a node's threads are neighbours
  std::vector<std::vector<Op>> ops;        // of each thread; can be longer than thread_node

  std::uint32_t threads() const { return static_cast<std::uint32_t>(thread_node.size()); }
  // The number of threads that enter the barrier of the operation.
  std::uint32_t entrants(const Op& op) const {
    bool side = op.kind == OpKind::kSideBarrier || (op.kind == OpKind::kGather && op.size == 1);
    return side ? setup.nodes : threads();
  }
};

// The name of a region in traces: its own, or "r2".
std::string name_of(const Program& program, std::size_t region);

// The lock whose token carries a program's count.
constexpr LockId count_id(std::uint32_t count) { return LockId{(1ull << 32) + count}; }

// A history counts when it has at least 4 nodes, 200 accesses, a lock and a barrier.
bool counts(const Program& program);

}  // namespace terrane::sim
