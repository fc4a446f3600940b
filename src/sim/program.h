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
inline constexpr std::uint32_t kMaxMeetings = 3;   // each has a count
inline constexpr std::uint32_t kObjectCounts = 5;  // those of objects follow
inline constexpr std::uint32_t kMaxCounts = 7;     // then those of threads that are made
inline constexpr std::uint32_t kWordBytes = 8;
// The last two barriers are for one thread of each node: the first, or the last one.
inline constexpr std::uint32_t kFirstThreads = kMaxBarriers - 2;
inline constexpr std::uint32_t kLastThreads = kMaxBarriers - 1;

// What stands fixed for one history.
struct Setup {
  std::uint32_t nodes = 4;
  std::uint32_t block_bytes = 64;
  std::uint32_t space_blocks = 256;
  std::uint32_t sc_blocks = 0;  // behind them, for regions with sequential consistency
  std::uint32_t sc_named_readers = 8;
  std::uint32_t sc_evicts_percent = 0;  // of operations: the node gives back these pages before
  std::uint32_t barrier_arity = 4;
  std::uint64_t limit = ~0ull;  // blocks of memory, twins too, that a node wants to keep to
  std::uint64_t most_notices = 4096;
  std::uint32_t max_log_ranges = 1 << 16;
  std::uint32_t populate_fails_percent = 0;
  std::uint32_t hot_after = 255;    // rounds of misses until a copy is renewed; 255: none is
  std::uint32_t most_renewed = 15;  // on end
  std::uint32_t promised = 64;      // unused departures that end a promise; 0: there are none
  bool migrate = false;
  bool meets = false;            // barriers that bring nobody anything are held in memory
  std::uint32_t most_unmet = 0;  // of which so many are not tried after one that was not held
  std::uint32_t patience = 0;    // looks, in the mean, until a node withdraws from one
  std::uint32_t reads_ask = 0;   // blocks read in order until homes are asked for; 0: never
  std::uint32_t look_from = 4;   // runs that one call looks at before they are scanned
  std::uint32_t max_run = 16;    // blocks of a message
  std::uint32_t runs_ahead = 0;  // messages of a miss behind the first, where misses go on in order
  bool late_flushes = false;     // differences by message leave when they are waited for
  std::uint32_t hosts = 1;     // node n is on host n % hosts; memory of other hosts is not reached
  std::uint32_t clusters = 1;  // host h is in cluster h % clusters
  bool scan = true;            // write detection by scan, or by fault
  bool enters_protected = true;  // a block can enter the view protected (always so by scan)
  bool entries_vanish = false;   // by fault: an entry may be taken out of the view at any time
  bool racy = false;             // the program keeps no discipline
  bool whole_steps = false;      // a step is performed in one piece, and a choice is not drawn
  protocol::Prediction prediction;
  bool predicts_at_random = false;  // by random_predictor.h, whatever `prediction` says
  std::uint64_t prediction_seed = 0;

  std::uint32_t clusters_used() const { return std::min({clusters, hosts, nodes}); }
};

enum class OpKind : std::uint8_t {
  kLoad,
  kStore,
  kLock,     // at: lock; size: how often the thread tries before it waits
  kUnlock,   // at: lock
  kBarrier,  // at: barrier, which all threads enter; size 1: they reduce `value` in it, as `phase`;
             // size 2: one of them broadcasts it there, or none (value 0)
  kSideBarrier,  // at: barrier, which one thread of each node enters
  kGather,       // at: barrier, which this thread, of node 0, enters next; size 1: a side barrier
  kAdd,          // at: count; value
  kSet,          // at: count; value
  kAwait,        // at: count; value: until it is at least that
  kPost,         // at: count, a semaphore; value: units; or, by size as of kTake, a read-write lock
  kTake,         // at: count, a semaphore; value: 1 waits, 0 tries until there is a unit, 2 waits
                 // for a time, until there is one. size 1 or 2: a read-write lock, to read or write
  kReady,        // at: count, a condition: its predicate holds from now on; under its lock
  kCondition,    // at: count; value: the lock, which the thread holds. Until its predicate holds;
                 // size 1: for a time, and then again
  kSignal,       // at: count; value: 1 wakes all that wait, 0 one
  kEvict,        // blocks [at, at + size) of the region; value: 1 gives the memory
                 // back, 2 trims the node, or tidies it
  kAllocate,     // the region; value: the collective call's number, or 0
  kDoomedStore,  // as kStore, to a region that is freed once all such stores are done; no release
                 // comes between, so the free must do away with what was written
  kFree,         // the region
  kFreeAgain,    // the region that this thread freed just now: must be refused
  kNowhere,      // an access outside every region: must be told so
  kFinalLoad,    // a word at the end, on which all nodes must agree
  kAtomic,       // size: that of the word, and the kind of operation times 16; value: the operand
  kPrepare,      // at: count; value: how many threads meet there
  kArrive,       // at: count, where the thread waits for the others
};

// One thing that a thread of the program does. An address is a byte of a region, since where a
// region lies is only known once it is allocated.
struct Op {
  OpKind kind = OpKind::kLoad;
  std::uint8_t size = 0;
  std::uint8_t region = 0;
  std::uint8_t phase = 0;  // which barrier phase it stands in; for shrinking
  std::uint32_t at = 0;
  std::uint64_t value = 0;
  std::optional<std::uint64_t> expected = {};  // what a load or atomic operation must find
};

struct RegionPlan {
  std::uint32_t blocks = 0;
  std::uint32_t homes = 0;        // protocol::Homes
  std::uint32_t home = 0;         // where homes are explicit
  std::uint32_t protocol = 0;     // protocol::Protocol
  std::uint32_t propagation = 0;  // protocol::Propagation
  std::string name = {};          // in traces; empty: by its number

  bool sc() const { return protocol == 2; }
};

// A random parallel program: what every thread does, one after the other. Data-race-free unless
// setup.racy.
struct Program {
  Setup setup;
  std::vector<RegionPlan> regions;
  std::vector<std::uint32_t> thread_node;  // node of each thread; a node's threads are neighbours
  std::vector<std::vector<Op>> ops;        // of each thread; may be longer than thread_node

  std::uint32_t threads() const { return static_cast<std::uint32_t>(thread_node.size()); }
  // How many threads enter the barrier of the operation.
  std::uint32_t entrants(const Op& op) const {
    bool side = op.kind == OpKind::kSideBarrier || (op.kind == OpKind::kGather && op.size == 1);
    return side ? setup.nodes : threads();
  }
};

// What traces call a region of the program: its name, or "r2".
std::string name_of(const Program& program, std::size_t region);

// The lock whose token carries a program's count.
constexpr LockId count_id(std::uint32_t count) { return LockId{(1ull << 32) + count}; }

// A history counts when it has at least 4 nodes, 200 accesses, a lock and a barrier.
bool counts(const Program& program);

}  // namespace terrane::sim
