#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The branches of mesi_chunk that some seed must take.
enum class Mark : std::uint8_t {
  kOpenHere,
  kOpenWaitsHere,
  kOpenBusyHere,
  kOpenAfterGrant,
  kOpenTimedOut,
  kOpenRefused,
  kOpenOutOfMemory,
  kRequestShared,
  kRequestExclusive,
  kRequestUpgrade,
  kRequestWhole,
  kRequestCancelled,
  kGrantExclusiveToReader,
  kGrantWithoutData,
  kGrantBlank,
  kBlankGivenBack,
  kGrantUnwanted,
  kRecallOwnerShare,
  kRecallOwnerDrop,
  kRecallSharers,
  kYieldWaitsForScope,
  kYieldBusy,
  kYieldDirty,
  kYieldClean,
  kYieldNothing,
  kEvictClean,
  kEvictDirty,
  kEvictedForMemory,
  kCancelQueued,
  kCancelActive,
  kCancelLate,
  kTryFindsRequest,
  kSnapshotTooOld,
  kSnapshotTwice,
  kRequestBoth,
  kRequestWaitsForReaders,
  kCreated,
  kCreateFindsIt,
  kFindWaits,
  kFindFails,
  kMismatch,
  kGrantWriter,
  kSubscribedLate,
  kSubscribeRefused,
  kSubscribeEnds,
  kPushPassesOver,
  kPushBlocks,
  kPushLeavesOut,
  kWriterCredited,
  kCreditReturned,
  kUpdateNotifies,
  kUpdateAwaited,
  kTakeFindsNothing,
  kVersionsMissed,
  kWrittenOnce,
  kHintFindsItSo,
  kHintWaitsForScope,
  kSubscribedEarly,
  kGoneWhileChanging,
  kHintStepsBack,
  kRebuiltChanging,
  kGrantGivenBack,
  kHintToPushed,
  kHintFromPushed,
  kHintAmongPushed,
  kMessageWaitsForView,
  kMessageOfTheDead,
  kDeadOwner,
  kDeadSharer,
  kDeadAwaited,
  kDeadServed,
  kDeadSubscriber,
  kDeadWriter,
  kRebuilt,
  kRebuiltFromOwner,
  kRebuiltFromSharer,
  kRebuiltFromOldBytes,
  kRebuiltFromNothing,
  kRebuiltLosesPushed,
  kRebuiltTellsGone,
  kRebuiltGoneForAll,
  kRebuildWaitsForNobody,
  kRebuildDefers,
  kFetchNextCandidate,
  kRequestRepeated,
  kAskRepeated,
  kMeetingTakes,
  kMeetingWaitsForTaker,
  kMeetingTakesOld,
  kLeaveGivesBack,
  kLeaveWaits,
  kLeaveMeetsRebuild,
  kPushCrossesOnce,
  kPushIsAtRelay,
  kPushRelayed,
  kRelayIsFull,
  kRelayEnds,
  kRelayedWaits,
  kDirectWaits,
  kPlacedAtNode,
  kPlacedAtFirst,
  kPlaceAwaited,
  kPlaceRefused,
  kAskedElsewhere,
  kAskedBeforeSuccession,
  kPlacementTold,
  kCount,
};

// Planted faults: each breaks one rule of docs/design/chunks.md, and the simulator must catch it.
enum class Mutant : std::uint8_t {
  kNone,
  kGrantAmongReaders,     // an exclusive request is granted without recalls from the sharers
  kYieldOpenWrite,        // a recall is answered while a writing scope is open
  kYieldOpenRead,         // a copy is given up while readers use it
  kYieldKeepsCopy,        // a copy is still read after it was given up
  kYieldWithoutData,      // a yield leaves the written bytes behind
  kEvictWithoutData,      // a written copy is dropped without sending its bytes home
  kEvictOpenCopy,         // a copy is evicted while a scope is open
  kUpgradeAsAsked,        // whether the requester has the bytes is decided at the request, not at
                          // the grant
  kGrantEarly,            // the first of several yields is taken for the last
  kReadKeepsOwner,        // a reader is served while the owner continues to write
  kVersionStays,          // a write scope ends without a new version
  kBlankRead,             // a copy without bytes is read
  kRefusalForgotten,      // a refused request gets no answer
  kCancelAnswersTwice,    // a cancelled request is granted as well
  kWritersTogether,       // two threads of a node write at once
  kPublishWithoutCredit,  // a version is written for which the home has no room
  kPushWithoutCredit,     // a version is sent for which the subscriber has no room
  kForgetLastVersion,     // a subscriber without room does not get the last version
  kBlockLeavesOut,        // a version is left out though the subscriber asked for every one
  kForgetUnsent,          // a version is forgotten that a subscriber must still be sent
  kCreditLost,            // the writer is not notified of the room that it waits for
  kCreditTwice,           // a subscriber asks for more versions than it has room for
  kSubscribedUnheard,     // a thread has subscribed before the home knows of it
  kPartPassedOver,        // a version is not sent to a subscriber though it changes a part of its
                          // range
  kMissedUncounted,       // versions that were left out are not reported
  kWriteTwice,            // a kOnce chunk is written again
  kHintUnasked,           // a chunk changes its coherence, and only its owner is asked
  kHintOpenScope,         // a chunk changes its coherence while a scope is open
  kGoneOverUnnoticed,     // a node that has seen the pushed chunk still takes the change for
                          // unfinished
  kDeadStillAwaited,      // a yield is awaited from a node that has died
  kDeadStillOwner,        // a node that has died stays owner
  kLossUntold,            // a version that died is not reported
  kGoneUntold,            // that a chunk died with its home is reported to the first successor only
  kAnswerBeforeReports,   // a new home serves before all have reported
  kRestoreOldest,         // the oldest bytes that are left are taken
  kOwnerForgotten,        // a new home takes an owner's copy for a shared one
  kRequestNotRepeated,    // questions to a dead home are not repeated
  kDropBeforeServing,     // a copy is dropped before the new home has it
  kFreeWhileRead,         // a version is discarded while a reader uses it
  kTryWaitsBehind,        // a try waits until the home has served earlier requests
  kReaderWaitsBehind,     // a reader of a pushed chunk waits for the next writer
  kReaderWaitsAlong,      // the same, if the writer is on its own node
  kPlacesUncounted,       // a node holds more versions than it has counted
  kBarrierLeavesEarly,    // a thread leaves a barrier as soon as it has arrived itself
  kSignalFromNothing,     // a signal does not add to those before
  kTakerForEver,          // after a thread has taken a version, no other thread may take the next
  kTakerTellsNobody,      // a thread that took a version does not notify the other threads of its
                          // node
  kLeaveWithCopies,       // a leaving node keeps its copies
  kLeaveUnheard,          // a leaving node does not wait until its homes have everything that it
                          // sent
  kNewcomerUnheard,   // messages of a new node are dropped if they come before the view that has
                      // it
  kRelayForgetsLast,  // a relay passes a version on to all nodes but the last
  kRelayEndsUnheard,  // a home ignores the request of a relay to forget its versions
  kRelayedOvertakes,  // a relayed message is handled before what its home sent earlier
  kDeadStillHeard,    // messages of a dead node are handled
  kPlacedTwice,       // the second subscriber becomes the home of a chunk, too
  kPlacementUntold,   // a new home of a name is not notified where its chunk is
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
using Instrumentation = InstrumentationOf<Mark, Mutant>;
// One for each thread: a simulation runs on one.
inline thread_local Instrumentation instrumentation;

inline void mark(Mark m) { ++instrumentation.marks[static_cast<std::size_t>(m)]; }
inline bool mutant(Mutant m) { return instrumentation.mutant == m; }
#else
constexpr void mark(Mark) {}
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
