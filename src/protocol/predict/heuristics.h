#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "protocol/predict/tunables.h"

namespace terrane::protocol {

// Everything that guesses, by the names of --predict (docs/design/prediction.md).
enum class Heuristic : std::uint8_t {
  kNeighbours,       // a miss prefetches the copies behind it that were here before
  kSequential,       // misses in order prefetch what follows
  kRunLength,        // a first miss prefetches as much as the latest streams had
  kBackward,         // misses in order downwards prefetch what lies before
  kPipeline,         // long streams have several requests under way
  kProbation,        // what a stream prefetched stays for a trial only
  kClaimBehind,      // first writes in order claim homes behind them
  kRefresh,          // copies that are missed on end are refreshed at barriers
  kLockRefresh,      // ... and at acquires of locks
  kProbe,            // a refreshed copy is unmapped now and then to show its use
  kShowMany,         // ... each time, where many are refreshed
  kSubscribe,        // homes push what is refreshed
  kFirstMiss,        // a first miss subscribes, where few pages are missed
  kPushTree,         // a push to many readers goes along a tree
  kPushVersion,      // an unchanged block is pushed by its version
  kWithArrival,      // pushes of two nodes go with their arrivals
  kWithGrant,        // a grant brings the blocks that the last acquire fetched
  kTrackBackOff,     // blocks written each time they are tracked are tracked seldom
  kUntrackIdle,      // a few tracked blocks that nobody writes are left to leases
  kTellUnchanged,    // writes of the values that were there give notice
  kOffer,            // homes are offered to their only writer
  kOfferLater,       // ... one barrier later where our threads end the offers
  kOfferBackOff,     // ... and seldom where they end those, too
  kOfferEndsRun,     // ... and what was offered with a block comes back with it
  kAskHomesToWrite,  // writers in order ask for homes
  kAskHomesToRead,   // readers in order ask for homes
  kMeet,             // barriers without news are held in memory
  kMeetWithLeases,   // ... also where a node has a few leases
  kMeetBackOff,      // ... but seldom where that fails
  kLookFirst,        // one call looks at many runs before they are scanned
  kLazyRelease,      // a lock is released when its token leaves
  kExtendTurn,       // a lock that a node takes time after time stays there for some turns
  kKeepOpen,         // copies written under locks are compared instead of protected
  kCount,
};

std::string_view name_of(Heuristic heuristic);

// A set of them.
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

// Who predicts: kAdaptive asks the heuristics that are switched on.
enum class PredictorKind : std::uint8_t { kAdaptive, kNever, kFourPages };

struct Prediction {
  PredictorKind kind = PredictorKind::kAdaptive;
  Heuristics on;

  bool operator==(const Prediction&) const = default;
};

// The text of --predict: names with commas between them. `-NAME` switches a heuristic off, `NAME`
// chooses a predictor (adaptive, never, four_pages). An error lists the names.
base::Result<Prediction> parse_prediction(std::string_view text);

// The numbers that switch off what the mechanism does by a number alone.
Tunables tuned(Tunables tunables, Heuristics on);

}  // namespace terrane::protocol
