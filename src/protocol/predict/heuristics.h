#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "protocol/predict/tunables.h"

namespace terrane::protocol {

// All heuristics, by their names in --predict (docs/design/prediction.md).
enum class Heuristic : std::uint8_t {
  kNeighbours,               // a miss prefetches the copies behind it that were here before
  kSequential,               // misses in order prefetch the blocks that follow
  kRunLength,                // a first miss prefetches as many blocks as recent streams had
  kBackward,                 // misses in descending order prefetch the blocks before
  kPipeline,                 // long streams have several requests under way
  kProbation,                // blocks that a stream prefetched are soon dropped if not used
  kSealReads,                // copies that a full node reads have no twins until they are written
  kSkipPresent,              // a stream of a full node goes on behind blocks that are here
  kClaimBehind,              // first writes in order claim homes behind or before them
  kRefresh,                  // copies that are missed round after round are refreshed at barriers
  kLockRefresh,              // ... and at acquires of locks
  kProbe,                    // a refreshed copy is unmapped now and then, to show its use
  kShowMany,                 // ... each time, if many are refreshed
  kSubscribe,                // homes push the blocks that are refreshed
  kFirstMiss,                // a first miss subscribes, if few pages are missed
  kPushTree,                 // a push to many readers goes along a tree
  kPushVersion,              // an unchanged block is pushed by its version
  kWithArrival,              // in a job of two nodes, pushes go with arrivals
  kWithGrant,                // a grant carries the blocks that the last acquire fetched
  kTrackBackOff,             // blocks written each time they are tracked are tracked seldom
  kKeepTracked,              // ... but homes stay tracked where nodes make many fences
  kUntrackIdle,              // a few tracked blocks that no node writes go back to leases
  kTellUnchanged,            // writes of the values that were there give notice
  kOffer,                    // homes are offered to their only writer
  kOfferLater,               // ... one barrier later, if threads of the home ended offers
  kOfferBackOff,             // ... and seldom, if they ended those as well
  kOfferEndsRun,             // ... and a fault that ends one offer ends those behind it
  kAskHomesToWrite,          // writers in order ask for homes
  kAskHomesToRead,           // readers in order ask for homes
  kAdopt,                    // a node with many homes asks nodes with room to adopt some
  kFewerHomes,               // a node whose copies come back at once keeps fewer homes
  kMemoryBarrier,            // barriers without notices are held in memory
  kMemoryBarrierWithLeases,  // ... also if a node has a few leases
  kMemoryBarrierBackOff,     // ... but seldom, if that fails
  kLookFirst,                // one call looks at many runs before they are scanned
  kLazyRelease,              // a lock is released when its token leaves
  kExtendTurn,               // a lock that a node takes time after time stays there for some turns
  kKeepOpen,                 // copies written under locks are compared instead of protected
  kCount,
};

std::string_view name_of(Heuristic heuristic);

// A set of heuristics.
class Heuristics {
 public:
  bool on(Heuristic heuristic) const { return bits_ >> static_cast<int>(heuristic) & 1; }
  void set(Heuristic heuristic, bool on) {
    std::uint64_t bit = 1ull << static_cast<int>(heuristic);
    bits_ = on ? bits_ | bit : bits_ & ~bit;
  }
  bool operator==(const Heuristics&) const = default;

 private:
  std::uint64_t bits_ = (1ull << static_cast<int>(Heuristic::kCount)) - 1;
};

// Which predictor answers; kAdaptive asks the heuristics that are switched on.
enum class PredictorKind : std::uint8_t { kAdaptive, kNever, kFourPages };

struct Prediction {
  PredictorKind kind = PredictorKind::kAdaptive;
  Heuristics on;

  bool operator==(const Prediction&) const = default;
};

// The text of --predict: names with commas between them. `-NAME` switches a heuristic off, `NAME`
// chooses a predictor (adaptive, never, four_pages). An error lists the names.
base::Result<Prediction> parse_prediction(std::string_view text);

// The tunables, changed so that heuristics of Hlrc itself are switched off: subscriptions, and the
// look before a scan.
Tunables tuned(Tunables tunables, Heuristics on);

}  // namespace terrane::protocol
