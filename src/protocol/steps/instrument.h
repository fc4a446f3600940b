#pragma once

#include <cstdint>

#include "base/check.h"

// Coverage marks and planted faults stand beside the lines that they speak of. In the production
// library both compile to nothing; the simulator links a second build of the same sources
// (TERRANE_INSTRUMENTED), where a mark counts that a branch was taken and a mutant, when chosen,
// breaks the rule that the line keeps. There, too, a broken invariant ends the history and not the
// process.

#ifdef TERRANE_INSTRUMENTED
#define TERRANE_PROTOCOL_VARIANT instrumented
#else
#define TERRANE_PROTOCOL_VARIANT production
#endif

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Every branch of the protocol that some seed must take.
enum class Mark : std::uint8_t {
  kFaultWaitsForBusyBlock,
  kFaultFindsBlockPresent,
  kFaultOutsideRegions,
  kFaultAtHome,
  kFaultAtTrackedHome,
  kFaultAtHomeForWriting,
  kFaultFetchesTracked,
  kFaultFetchesLease,
  kFaultFetchesTrackedByMessage,
  kFaultFetchesLeaseByMessage,
  kFaultSentElsewhere,
  kFaultAsksAgain,
  kFaultTakesHomeByMessage,
  kFaultFindsWantedSet,
  kFaultReadsUnclaimed,
  kFaultClaimsHome,
  kFaultClaimsNext,
  kFaultClaimsBefore,
  kFaultLosesClaim,
  kFaultSeesClaimLate,
  kFaultFirstWriteTwins,
  kFaultFetchesForWriting,
  kFaultMakesRoom,
  kTrims,
  kFaultGivesUp,
  kFaultBringsNeighbour,
  kFaultBringsNext,
  kFaultBringsAlike,
  kFaultLeavesNeighbour,
  kFaultFollowsHome,
  kFaultWaitsForMove,
  kFaultReadsAgain,
  kFaultTakesHome,
  kFaultFindsHomeGone,
  kFaultEndsOffer,
  kFaultEndsOffersBehind,
  kFlushAwaited,
  kFlushFollowsHome,
  kFlushWaitsForMove,
  kFlushEndsOffer,
  kReleaseLooksFirst,
  kReleaseFlushesDiff,
  kReleaseFindsNothingChanged,
  kReleaseClaimsHome,
  kReleaseLosesClaim,
  kFaultProvesNeighbour,
  kReleaseUntracksHome,
  kReleaseUntracksIdle,
  kReleaseUntracksUnmapped,
  kReleaseTellsTaken,
  kReleaseTracksWanted,
  kReleaseTracksUnmapped,
  kReleaseBacksOff,
  kReleaseWithoutNotices,
  kReleaseTellsUnchanged,
  kReleaseTakesHome,
  kReleaseLeavesOffered,
  kAcquireDropsLease,
  kAcquireDropsNoticed,
  kAcquireDropsEverything,
  kAcquireSkipsKnownInterval,
  kAcquireRenews,
  kAcquireRenewsMerging,
  kAcquireRenewsByMessage,
  kAcquireRenewsByNews,
  kAcquireLeavesNews,
  kDepartureSpreadsNews,
  kNewsPassedOn,
  kNewsGonePassedOn,
  kNewsPassedOnByOthers,
  kAcquireFindsNewsGone,
  kAcquireRenewsTracked,
  kAcquireProvesRenewal,
  kAcquireProvesNeighbour,
  kAcquireDropsLeftOver,
  kAcquireRefusesPromise,
  kAcquireHidesCopy,
  kAcquireEndsPromise,
  kAcquireForeseesNothing,
  kAcquireRenewsForeseen,
  kAcquireProvesForeseen,
  kFaultProvesHidden,
  kFaultShowsNeighbour,
  kAcquireTakesHome,
  kTakesTrackedHome,
  kDepartureOffersHome,
  kDepartureOffersEager,
  kAskedAndOffers,
  kAskedWhileReleasing,
  kAskedAndKeeps,
  kFaultAsksForHomes,
  kFaultAsksForHomesToRead,
  kFaultBringsBefore,
  kFaultAsksAhead,
  kFaultAsksOwnerAhead,
  kFaultAsksForHomesAhead,
  kFaultAheadComesShort,
  kFaultAheadTakesHome,
  kFaultCopiesRun,
  kFaultCopiesPart,
  kFaultIsPromised,
  kAcquireKeepsSame,
  kAcquireAsksForSame,
  kFindsRegionFreed,
  kDepartureOffersWritten,
  kDepartureEndsOffer,
  kDepartureMovesOffer,
  kDepartureKeepsHome,
  kDepartureDefersOffer,
  kDepartureOffersLate,
  kDepartureGivesNotice,
  kInvalidateFlushesDirty,
  kInvalidateClaimsHome,
  kInvalidateFindsZeros,
  kInvalidateFindsNoCopy,
  kInvalidateWaitsForBusyBlock,
  kConsistencyLockContended,
  kEvictClean,
  kEvictDirty,
  kEvictSparesRecent,
  kGivesBackIdle,
  kGivesBackTwin,
  kGivesBackMoved,
  kGivesBackMovedByMessage,
  kGivesBackNotYet,
  kGivesBackNothing,
  kNoticesJoined,
  kLockFreeHere,
  kLockQueuedHere,
  kLockRequested,
  kLockHandedLocally,
  kReleaseOpensCopy,
  kReleaseClosesCopy,
  kLockKept,
  kLockReleasedLate,
  kReleaseKeptDone,
  kLockTurnExtended,
  kLockTakenInTurn,
  kLockTurnEnded,
  kLockGrantedToSuccessor,
  kLockGrantedFromRest,
  kLockForwardWaits,
  kLockRequestedAgain,
  kLockManagerIsTail,
  kCountReached,
  kCountWakesHere,
  kCountWakesElsewhere,
  kCountWokenBeforeSleep,
  kCountTravels,
  kBarrierLocalWait,
  kBarrierCombines,
  kBarrierReduces,
  kBarrierDeparts,
  kBarrierWaitsForDeparture,
  kBarrierPairNotAgreed,
  kBarrierPairApart,
  kArrivalCarriesBlocks,
  kAcquireRenewsByArrival,
  kAcquireLeavesOverwritten,
  kBarrierHeldInMemory,
  kBarrierCalm,
  kBarrierNotHeld,
  kBarrierDropsLeases,
  kLogTruncated,
  kLogHoleLearned,
  kRegionFoundHere,
  kRegionAsked,
  kRegionUnknown,
  kRegionCollective,
  kRegionKeptInCluster,
  kRegionFreed,
  kRegionFreedTwice,
  kDropHome,
  kDropCached,
  kServesElsewhere,
  kServesNotYet,
  kServesOwn,
  kServesPassOn,
  kServesSendBack,
  kServesEndOffer,
  kServesNoNews,
  kReleaseExpires,
  kReleaseWaitsForExpiry,
  kExpiryFindsCopies,
  kExpiryPassedOn,
  kAcquireUpdates,
  kLockRenews,
  kLockHeldBack,
  kLockInserts,
  kLockInsertRefused,
  kLockNamesBlocks,
  kLockNamesTooMany,
  kGrantCarriesBlocks,
  kLockRenewsByGrant,
  kLockLeavesGranted,
  kAtomicAtHome,
  kAtomicElsewhere,
  kAtomicByMessage,
  kAtomicFollowsHome,
  kAtomicAsksAgain,
  kAtomicPatchesCopy,
  kLockTriedInUseHere,
  kLockTriedInUse,
  kLockTriedAtRest,
  kLockTryHoldsBack,
  kLockRequestedAfterTry,
  kHeadArrives,
  kLockManagerMoves,
  kLockRelayed,
  kLockAgentHoldsBack,
  kLockPrefersCluster,
  kPushEntersCluster,
  kDepartureCutsRuns,
  kAcquireJoinsPushes,
  kCountExpires,
  kCountGivenUp,
  kCountGivenUpWakes,
  kCountWokenBeforeGivenUp,
  kCountSharesRoom,
  kCountMeets,
  kGatherInMemory,
  kGatherNotInMemory,
  kGatherByMessages,
  kGatherHearsHead,
  kCount,
};

// Planted faults: each breaks one rule, and the simulator must catch it.
enum class Mutant : std::uint8_t {
  kNone,
  kDiffWords,               // rule 1: whole words instead of changed bytes
  kFlushWholeBlock,         // rule 2: the whole block goes home though others may have written it
  kDiffBeforeZap,           // rule 4: scan and diff first, zap after
  kInvalidateWithoutDiff,   // rule 4: a dirty copy is dropped
  kPublishBeforeProtect,    // rule 5: tracked becomes visible before the home is protected
  kKeepTrackedWhenWritten,  // rule 5: a written home stays tracked, and gives no notice
  kUntrackSilently,         // rule 5: a home that is tracked no more gives its readers no notice
  kKeepLease,               // rule 5: a lease outlives an acquire
  kLateCachedMark,        // rule 5: the copy is marked after it was made, so an acquire may miss it
  kTwinCopiedApart,       // rule 6: the twin is copied again after the diff
  kTwinFromHome,          // rule 6: block and twin copied from the home one after the other
  kFlushAfterGrant,       // completed flush: the release is visible before the flush
  kForgetInvalidated,     // a dirty copy flushed at an acquire gives no notice
  kGrantWithoutNotices,   // the grant carries nothing
  kForgetOthersNotices,   // the grant carries the granter's own intervals alone
  kIgnoreLogHole,         // the receiver trusts a set that starts after what it knows
  kBarrierForgetsChild,   // a child's notices are not merged
  kBarrierOwnNotices,     // an arrival does not pass on what came by locks
  kDeparturesUnordered,   // a departure is applied before an earlier one of another barrier
  kBarrierEarly,          // departs with one arrival missing
  kOpenNotCompared,       // a release forgets the copies that are kept open
  kOpenKeepsTwin,         // ... brings their changes home, and does not note that in the twin
  kGrantUnreleased,       // a kept token leaves before its release
  kKeptNotHeld,           // a thread may take a kept token while its release is made
  kKeptTrustsOldRelease,  // a release that began before the lock was given back is good enough
  kEndTurnUnreleased,     // a token leaves at the end of an extended turn without a release
  kEndTurnWhileHeld,      // ... while a thread holds the lock
  kLockTwoHolders,        // a forward is granted while the lock is held
  kClaimWithoutSwap,      // rule 11: load and store instead of compare-and-swap
  kHandoffAcrossNodes,    // the release is skipped when the next holder is on another node
  kNoReleaseLock,     // two releases of a node run at once, the second not waiting for the first's
                      // flush
  kTrackAgain,        // a tracked block is protected once more, which hides what was written
  kTrackCopies,       // a block is tracked that is a copy here, as late readers ask
  kLookOnceForClaim,  // rule 11: the owner is looked at before the copy can be found only
  kKeepFailedFetch,   // a fetch that found no memory stays among the copies
  kReuseEarly,        // rule 12: freed blocks are given out before every node dropped them
  kDropOnce,          // rule 12: what was not released reaches the home behind its only drop
  kDropKeepsMemory,   // rule 12: a freed block keeps its bytes
  kLoseWake,          // a thread that waits for the consistency lock is not woken
  kFetchCopiesFirst,  // rule 5: the home copies first, and looks whether it tracks afterwards
  kCloseBeforeFlushed,       // completed flush: what was posted is still on its way
  kInvalidBeforeFlushed,     // rule 4: the block is invalid while what was posted is on its way
  kRenewOverwrites,          // rule 7: a renewed copy loses what its own threads wrote meanwhile
  kRenewKeepsTwin,           // rule 7: the twin of a renewed copy stays as it was
  kRenewTrusts,              // rule 5: a renewed copy of an untracked block is no lease
  kNewsAfterOthers,          // news are taken though this node acquired or flushed since it arrived
  kNewsOfOtherBlocks,        // of a longer run the first news are taken for any blocks of it
  kNewsOfAnyDeparture,       // the news of an earlier departure are taken for those of this one
  kNewsForgetReader,         // who passes news on leaves one reader out
  kNewsOfWhoPassedThem,      // news are taken for those of the node that passed them on
  kNewsGoneUntold,           // that a home has none to send is not passed on
  kNewsEndWhereUnread,       // a node that waits for no push passes none on
  kRenewUnlocked,            // a copy is renewed while others may make it writable or drop it
  kOfferMapped,              // rule 10: a home offers what its own threads still see
  kOfferForgetsWrites,       // what they wrote to a tracked block before the offer gets no notice
  kOfferDespiteFlush,        // armed while somebody may be storing there who did not see the offer
  kFlushKeepsOffer,          // a flush leaves the offer to another node standing
  kFlushFormerHome,          // rule 10: a flush to a home that has moved is not sent on
  kReadFormerHome,           // rule 10: a reader takes what a home had before it moved
  kReadTooEarly,             // a reader takes what the new home had before it had the bytes
  kReadOnce,                 // a reader does not look whether the home moved while it copied
  kMoveWithoutSwap,          // the word is stored, whatever it has become meanwhile
  kTakeForgetsTracked,       // the node that takes a tracked home gives readers no notices
  kTrackOffered,             // a home tracks what is on offer, or gone
  kTrackSaysHere,            // who tracks a block in vain says that it is here
  kServeFormerHome,          // by message: the reader gets what a home had before it moved
  kServeTooEarly,            // ... what the new home had before it had the bytes
  kApplyAtFormerHome,        // ... a difference is applied where the home was
  kApplyTooEarly,            // ... where it will be, before it has the bytes
  kApplyKeepsOffer,          // ... and the offer to another node stands
  kApplyUncounted,           // an offer is armed while a difference that came by message is applied
  kPassOnUnawaited,          // a release does not wait for what was passed on
  kNewsOfFormerHome,         // a promise is kept with what a home had before it moved
  kChangeBeforeFlush,        // a count tells of writes that are not flushed
  kGrantForgetsCount,        // a token loses the count that it carries
  kGrantForgetsSleepers,     // ... and who sleeps until it is large enough
  kEarlyWakeLost,            // a wake that comes before its sleeper sleeps is forgotten
  kWakeIsEnough,             // a woken thread does not acquire
  kTicketTwice,              // two waiters have the same ticket
  kConditionUnlocksFirst,    // a thread gives the lock back before it has the condition's ticket
  kReduceForgetsThread,      // a barrier reduces without the threads that wait on their node
  kReduceForgetsChild,       // ... without a subtree
  kReduceKeepsOld,           // ... with what the round before had
  kEvictWithoutDiff,         // rule 17: a copy is evicted though it was written
  kEvictWithoutNotice,       // what an eviction flushed gets no notice
  kPunchBeforeDiff,          // the memory of a copy goes before its difference is taken
  kTwinBeforeDiff,           // ... that of its twin
  kGiveBackUnlocked,         // memory that is idle goes while a fetch fills it
  kGiveBackEarly,            // a former home's memory goes before the new one has the bytes
  kGiveBackOffered,          // ... before it has moved
  kExpiryForgotten,          // an eager release tells nobody
  kSiblingsExpiryUnawaited,  // ... ends before that of a sibling that tells of its writes
  kExpirySparesBusy,         // copies that are being made do not expire
  kExpiryForgetsChild,       // an expiry does not reach all nodes
  kSettleUnconfirmed,        // a home that was only heard of is asked as if it were known
  kClaimTracked,             // first writes that go on claim what was tracked since it was freed
  kAtomicForgetsCopy,        // an atomic operation leaves this node's copy as it was
  kAtomicWithoutNotice,      // ... gives no notice
  kAtomicBeforeFlush,        // ... passes what its own thread stored
  kAtomicKeepsTracked,       // ... at a home that readers rely on, gives no notice
  kExpiryAnsweredEarly,      // a node answers before its copies are gone
  kMeetsWithNews,            // a node with news to tell meets in memory, where nobody hears them
  kMeetsApart,               // ... though the others have learned more, or less
  kMeetingKeepsLeases,       // a lease outlives a barrier that was held in memory
  kCalmForgetsChanges,       // a node that was calm comes without a look at what has changed
  kCalmForgetsCopies,        // ... at its copies
  kWithdrawsTooLate,         // a node goes though the round was held, and waits for the others
  kTakeTrustsWord,     // the node that takes an untracked home gives readers no notices either
  kGrantOthersBlocks,  // a grant carries blocks of which the granter is not the home
  kGrantAfterOthers,   // ... that are taken though this node flushed or acquired since it asked
  kGrantDuringFlush,   // ... though a flush was under way when it asked
  kInsertUnbounded,    // a node on the holder's host comes first, however often
  kGrantForgetsThen,   // a grant loses who was next until its receiver was put before him
  kForgetsWhereFrom,   // part of a run was followed to where it moved, and counts as where it was
  kFollowsFreed,       // a thread waits for a moving home, and does not look whether it was freed
  kAlongAfterLocks,    // blocks of an arrival are taken by who acquired by a lock in between
  kAlongApart,         // ... from a node that has not seen the same barrier exits
  kAlongOverOwn,       // ... though this node has written them, too
  kRenewSettlesEarly,  // a renewed copy is no lease while its threads still see what was before
  kAheadKeepsShort,  // what did not come of a run that was asked for ahead is entered all the same
  kEndsPromiseLate,  // a promise that was given up is ended after the home was asked again
  kHideForgetsWrites,     // what was written before a copy is hidden is not looked for
  kAheadTrustsOwner,      // blocks of another owner are asked for ahead at the miss's home
  kMovesTakenOffer,       // a block on offer is offered to another, though it may be taken at that
                          // moment
  kExpectsWhatEnded,      // a miss's promise is expected though this node has ended some meanwhile
  kKeepsAnySerial,        // a copy stays that the home has sent again, or that never came as news
  kFlushKeepsSerial,      // ... that this node wrote, and others wrote over
  kMissKeepsSerial,       // ... that was missed, or renewed otherwise, after the news
  kScansOneSuspect,       // of what a look found written the first run alone is scanned
  kReturnsWhatWent,       // what was offered with a block comes back with it, though it has gone
  kShowsWhatDied,         // what comes back with a hidden copy may have been dropped meanwhile
  kTryKeepsTail,          // a lock that was tried and got leaves the manager's queue as it was
  kTryForgetsHeldBack,    // requests that wait for the answer to a try are lost
  kTryForgetsWaiters,     // threads that wait behind a try in vain are not asked for
  kGiveUpKeepsTicket,     // a thread that gives up leaves a ticket that no thread waits for
  kGiveUpKeepsOrder,      // ... and those behind wait for as much as before
  kGiveUpDespiteWake,     // ... though a signal was spent on it
  kShareWithWriter,       // a writer takes the room of one reader alone
  kArriveForNextRound,    // the last of a round waits for the next
  kCountTrustsUnapplied,  // a count is used here before what came with its token is applied
  kCountLearnsUnlocked,   // ... and another thread acquires what was learned and not applied
  kSleepersKnowAsMuch,    // a wake tells its sleeper only what the last sleeper does not know
  kServeUnswapped,        // by message: the reader becomes the home though its offer was withdrawn
  kServeUncounted,        // ... and nobody sees that it is still being served
  kAnswersBeforeApplied,  // a flush is answered before its differences are stored
  kAtomicUncounted,      // an offer is armed while an atomic operation that came by message is done
  kPushesFreed,          // a subscription to a freed block pushes what lies there
  kCountsOthersBlocks,   // a directory names blocks of another owner with those of one
  kHeadForgetsCluster,   // a cluster's head tells the other one of its own notices alone
  kHeadEarly,            // ... before all nodes of its cluster have come
  kLockGivenUsed,        // a lock's first manager gives it away though nodes have used it
  kLockMovesTokenStays,  // ... and keeps the token, too
  kAgentForgetsOthers,   // of the requests that an agent held back it passes on the first alone
  kPushForgetsCluster,   // a push enters a cluster and is not passed on there
  kNamesOthersHomes,     // a region's answer names one block more of a home than it has
  kReaderForgetsDirectory,  // a reader asks another cluster's node for a block's owner
  kCutForgetsReader,        // of a run that is cut for a link one reader gets the first part alone
  kGatherEarly,             // a join ends while one thread or node is missing
  kGatherForgetsNotices,    // ... and the root does not learn what the others changed
  kGatherForgetsHead,       // ... in another cluster
  kGatherKeepsLeases,       // ... in memory, and leases of the root outlive it
  kGatherApart,             // ... though the others have learned more than the root, or less
  kForkKeepsPayload,        // a fork's payload is that of the fork before, older than its notices
  kArrivesTwice,            // a node that came to a barrier in memory arrives by message, too
  kReleaseInService,        // a thread makes a release in the middle of an offer that it makes
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
// Of one protocol: how often each branch was taken, and the planted fault, if any.
template <typename Mark, typename Mutant>
struct InstrumentationOf {
  std::uint64_t marks[static_cast<std::size_t>(Mark::kCount)] = {};
  Mutant mutant = Mutant::kNone;
};
using Instrumentation = InstrumentationOf<Mark, Mutant>;
// Of the calling thread: each simulation runs on one.
inline thread_local Instrumentation instrumentation;

inline void mark(Mark m) { ++instrumentation.marks[static_cast<std::size_t>(m)]; }
inline bool mutant(Mutant m) { return instrumentation.mutant == m; }

struct BrokenInvariant {
  const char* condition;
  const char* file;
  int line;
  const char* why;
};
[[noreturn]] inline void invariant_broken(const char* condition, const char* file, int line,
                                          const char* why) {
  throw BrokenInvariant{condition, file, line, why};
}
#undef TERRANE_CHECK
#define TERRANE_CHECK(condition, why)                \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::terrane::protocol::invariant_broken(#condition, __FILE__, __LINE__, why))
#else
constexpr void mark(Mark) {}
constexpr bool mutant(Mutant) { return false; }
#endif

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
