#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The branches of work streams that some seed must take.
enum class WorkMark : std::uint8_t {
  kPlacedAtFirst,
  kPlacementAwaited,
  kWriterRegistered,
  kWriteWaits,
  kWriteBusy,
  kWriteTimedOut,
  kWriteFindsNoTaker,
  kWriteFindsEnd,
  kGivenUp,
  kPublishAfterEnd,
  kPublishDepends,
  kPutOutOfTurn,
  kPutTwice,
  kGiven,
  kGivenAgain,
  kGiveAwaitsCredit,
  kGiveAfterUnsubscribe,
  kTakeAwaits,
  kTakeBusy,
  kTakeTimedOut,
  kDoneAwaitsResult,
  kReleasedBeforeDone,
  kDoneBatched,
  kDoneSent,
  kSettledBatched,
  kSettledSent,
  kUnsubscribed,
  kUnsubscribedKeeps,
  kSubscribeAfterEnd,
  kEnded,
  kStoppedByEnd,
  kDrained,
  kSubscriberDied,
  kLastSubscriberDied,
  kTakersAgain,
  kWriterDied,
  kHomeDied,
  kHomeDiedWithResults,
  kNameHomeDied,
  kCount,
};

// Planted faults: each breaks one rule of docs/design/chunks.md, and the simulator must catch it.
enum class WorkMutant : std::uint8_t {
  kNone,
  kForgetDead,         // the versions of a dead subscriber are forgotten
  kDoneBeforeResult,   // a version is done though one that was made from it is not
  kEndBeforeDone,      // the stream ends while a subscriber still has a version
  kEndUnasked,         // the stream ends before its writers have answered
  kTagTwice,           // a tag of a stream in order is given twice
  kSecondDoneEarly,    // the second version of a tag is done while a subscriber has the first
  kGiveWithoutCredit,  // a version is given for which the subscriber has no room
  kSettledLate,        // credit is not returned though no version is left to give
  kDeathUntold,        // writers are not notified that the last subscriber has died
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
using WorkInstrumentation = InstrumentationOf<WorkMark, WorkMutant>;
// One for each thread: a simulation runs on one.
inline thread_local WorkInstrumentation work_instrumentation;

inline void mark(WorkMark m) { ++work_instrumentation.marks[static_cast<std::size_t>(m)]; }
inline bool mutant(WorkMutant m) { return work_instrumentation.mutant == m; }
#else
constexpr void mark(WorkMark) {}
constexpr bool mutant(WorkMutant) { return false; }
#endif

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
