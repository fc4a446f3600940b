#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Every branch of work streams that some seed must take.
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
  kForgetDead,         // what a dead subscriber had is forgotten
  kDoneBeforeResult,   // a version is done though what was made from it is not
  kEndBeforeDone,      // the stream ends while somebody still has a version
  kEndUnasked,         // ... before its writers have answered
  kTagTwice,           // a version in order is given twice
  kGiveWithoutCredit,  // a version is given that the subscriber has no room for
  kSettledLate,        // credit is kept back though no version is left to give
  kDeathUntold,        // writers do not hear that the last subscriber has died
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
using WorkInstrumentation = InstrumentationOf<WorkMark, WorkMutant>;
// Of the calling thread: each simulation runs on one.
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
