#pragma once

#include <cstddef>
#include <cstdint>

// Coverage marks and planted faults, as in protocol/steps/instrument.h. The production library has
// none; the simulator links a second build of the same sources (TERRANE_INSTRUMENTED).

#ifdef TERRANE_INSTRUMENTED
#define TERRANE_ROUTING_VARIANT instrumented
#else
#define TERRANE_ROUTING_VARIANT production
#endif

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// Every branch of the routing machines that some seed must take.
enum class Mark : std::uint8_t {
  kMessageSplit,
  kWindowFull,
  kWayLost,
  kWayBetter,
  kAgainHeard,
  kTakenAheadOfSent,
  kTakenStale,
  kTakenToldAgain,
  kPeerUnreachable,
  kPeerBack,
  kPeerLost,
  kPeerGone,

  kMessageWhole,
  kMessageJoined,
  kDuplicateDropped,
  kGapDropped,
  kByeTaken,

  kRouteChanged,
  kRouteLost,
  kAgainPassedOn,
  kLinksOld,
  kLinksRaised,
  kNoWay,
  kNotBack,
  kQueuedTwice,
  kQueuedStale,
  kQueuedBefore,
  kQueueRerouted,
  kTakenMerged,
  kPortClosedFull,
  kCount,
};

// Planted faults: each breaks one rule of docs/design/clusters.md, and the simulator must catch it.
enum class Mutant : std::uint8_t {
  kNone,
  kTakenNotRepeated,    // a position that was on a lost way is not sent again
  kDuplicateDelivered,  // a frame that was delivered is delivered again after a rewind
  kRewindForgotten,     // frames that were on a lost way are not sent again
  kTwoPaths,            // a pair changes to a better way, and does not send its frames again
  kGapAccepted,         // a frame is delivered though one before it is missing
  kAgainDropped,        // a gateway does not pass on that frames may have been lost
  kRouteKeptQuiet,      // a gateway reports a changed path without `again`
  kNeighbourBlocks,     // a neighbour that does not read delays the others
  kQueuesDuplicates,    // a frame that waits already is queued a second time
  kLinksKept,           // a gateway does not pass on the links of others
  kOldLinksAccepted,    // a gateway accepts links that are older than those it knows
  kRestartForgotten,    // a restarted gateway does not continue its former versions
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
struct Instrumentation {
  std::uint64_t marks[static_cast<std::size_t>(Mark::kCount)] = {};
  Mutant mutant = Mutant::kNone;
};
// One for each thread: a simulation runs on one.
inline thread_local Instrumentation instrumentation;

inline void mark(Mark m) { ++instrumentation.marks[static_cast<std::size_t>(m)]; }
inline bool mutant(Mutant m) { return instrumentation.mutant == m; }
#else
constexpr void mark(Mark) {}
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
