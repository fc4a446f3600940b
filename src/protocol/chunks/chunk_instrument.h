#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// Every branch of mesi_chunk that some seed must take.
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
  kGrantAmongReaders,     // exclusive without asking the sharers
  kYieldOpenWrite,        // a recall is answered while a writer is at work
  kYieldOpenRead,         // a copy is given up while readers look at it
  kYieldKeepsCopy,        // a dropped copy is still read
  kYieldWithoutData,      // what was written stays behind
  kEvictWithoutData,      // a written copy is dropped
  kEvictOpenCopy,         // the copy of an open scope leaves memory
  kUpgradeAsAsked,        // "has the bytes" is judged when asked, not when granted
  kGrantEarly,            // the first of several yields is taken for the last
  kReadKeepsOwner,        // a reader is served while the owner goes on writing
  kVersionStays,          // a write scope ends without a new version
  kBlankRead,             // a copy without bytes is read
  kRefusalForgotten,      // who was refused is not told
  kCancelAnswersTwice,    // a cancelled request is granted as well
  kWritersTogether,       // two threads of a node write at once
  kPublishWithoutCredit,  // a version is written that the home has no room for
  kPushWithoutCredit,     // a version is sent that the subscriber has no room for
  kForgetLastVersion,     // a node without room is left without the last version
  kBlockLeavesOut,        // a version is left out where every one was asked for
  kForgetUnsent,          // a version makes room that somebody still must be sent
  kCreditLost,            // the writer is not told of the room that it waits for
  kCreditTwice,           // more versions are asked for than there is room for
  kPartPassedOver,        // a version is not sent to who must hear of a part that it changes
  kMissedUncounted,       // versions that were left out are not told
  kWriteTwice,            // what may be written once is written again
  kHintUnasked,          // a chunk changes its coherence, and only the node that may write is asked
  kHintOpenScope,        // a chunk changes its coherence while somebody looks at it
  kGoneOverUnnoticed,    // who looks at a pushed chunk takes its change for unfinished
  kDeadStillAwaited,     // a yield is awaited from a node that has died
  kDeadStillOwner,       // a node that has died stays owner
  kLossUntold,           // a version that died is not told
  kGoneUntold,           // whose home died is told to the first successor alone
  kAnswerBeforeReports,  // a new home serves before all have reported
  kRestoreOldest,        // the oldest copy that is left is taken
  kOwnerForgotten,       // a new home takes an owner's copy for a shared one
  kRequestNotRepeated,   // what the dead home was asked is not asked again
  kDropBeforeServing,    // a copy is dropped before the new home has it
  kFreeWhileRead,        // a version makes room while somebody looks at it
  kTryWaitsBehind,       // a try waits until the home has served who came before
  kReaderWaitsBehind,    // a reader of a pushed chunk waits for the next writer
  kReaderWaitsAlong,     // the same, where the writer is of its own node
  kPlacesUncounted,      // a node holds more versions than it has counted
  kBarrierLeavesEarly,   // a thread leaves a barrier once it has come itself
  kSignalFromNothing,    // a signal does not add to those before
  kTakerForEver,         // a thread that took a version lets no other take the next
  kTakerTellsNobody,     // who took a version keeps it from the other threads of its node
  kLeaveWithCopies,      // who leaves keeps what it has
  kLeaveUnheard,         // who leaves does not wait until its homes have all that it sent
  kNewcomerUnheard,      // what a node sends before others are told that it joined is left
  kRelayForgetsLast,     // a relay passes a version on to all nodes but the last
  kRelayEndsUnheard,     // a home that a relay has asked to forget its versions does not
  kRelayedOvertakes,     // what is relayed is taken before what its home sent earlier
  kDeadStillHeard,       // what a node sends after others were told that it died is taken
  kPlacedTwice,          // the second subscriber becomes the home of a chunk, too
  kPlacementUntold,      // a new home of a name is not told where its chunk is
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
using Instrumentation = InstrumentationOf<Mark, Mutant>;
// Of the calling thread: each simulation runs on one.
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
