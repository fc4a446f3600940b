#pragma once

#include <cstddef>
#include <cstdint>

// Coverage marks and planted faults, as in protocol/steps/instrument.h: nothing in the production
// library; the simulator links a second build of the same sources (TERRANE_INSTRUMENTED).

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
  kNoWay,
  kNotBack,
  kTooManyHops,
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
  kTakenNotRepeated,    // credit that was on a lost way is not told again
  kDuplicateDelivered,  // what has been delivered is delivered again after a rewind
  kRewindForgotten,     // what was on a lost way is not sent again
  kTwoPaths,        // a pair goes over to a better way, and leaves the frames of the old one behind
  kGapAccepted,     // a frame is delivered though one before it is missing
  kPairBlocksWay,   // a pair without credit holds up the others of its way
  kLostAtOnce,      // a peer is lost while the gateways look for another path
  kAgainDropped,    // a gateway does not pass on that frames may have been lost
  kCountsForever,   // no split horizon, and no number of hops is too large
  kRouteKeptQuiet,  // a gateway changes a path and says so without `again`
  kQueuesDuplicates,  // frames that wait already are queued once more
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
struct Instrumentation {
  std::uint64_t marks[static_cast<std::size_t>(Mark::kCount)] = {};
  Mutant mutant = Mutant::kNone;
};
// Of the calling thread: each simulation runs on one.
inline thread_local Instrumentation instrumentation;

inline void mark(Mark m) { ++instrumentation.marks[static_cast<std::size_t>(m)]; }
inline bool mutant(Mutant m) { return instrumentation.mutant == m; }
#else
constexpr void mark(Mark) {}
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
