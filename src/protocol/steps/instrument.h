#pragma once

#include <cstdint>

#include "base/check.h"

// Coverage marks and planted faults (mutants) are calls in the protocol's code. In the production
// library both compile to nothing. The simulator links a second build of the same sources
// (TERRANE_INSTRUMENTED). There a mark counts how often its branch is taken, and the chosen mutant
// breaks the rule that its line keeps. A broken invariant ends the random history, not the process.

#ifdef TERRANE_INSTRUMENTED
#define TERRANE_PROTOCOL_VARIANT instrumented
#else
#define TERRANE_PROTOCOL_VARIANT production
#endif

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

// Coverage marks: branches of the protocol. Some random history must take each. A mark without a
// comment is what its name says.
enum class Mark : std::uint8_t {
  kFaultWaitsForBusyBlock,
  kFaultFindsBlockPresent,
  kFaultOutsideRegions,
  kFaultAtHome,
  kFaultAtTrackedHome,
  kFaultAtHomeForWriting,
  kFaultFetchesTracked,           // memory in reach: the copy relies on notices
  kFaultFetchesLease,             // memory in reach: the copy is a lease
  kFaultFetchesTrackedByMessage,  // home out of reach: the copy relies on notices
  kFaultFetchesLeaseByMessage,    // home out of reach: the copy is a lease
  kFaultTakesHomeByMessage,       // a fetch takes an offered home
  kFaultFindsWantedSet,           // another reader has set "wanted" already
  kFaultReadsUnclaimed,           // a read of a block that has no owner
  kFaultClaimsHome,               // a first write makes this node the owner
  kFaultClaimsNext,               // a first write claims blocks behind its own, too
  kFaultClaimsBefore,             // a first write claims blocks before its own, too
  kFaultLosesClaim,               // another node claimed the block first
  kFaultSeesClaimLate,            // the second look, after the copy is in the sets, finds an owner
  kFaultFirstWriteTwins,          // detection by fault: a clean copy becomes a written one
  kFaultFetchesForWriting,
  kFaultMakesRoom,
  kTrims,                     // memory over the limit is given back, without a wait
  kFaultGivesUp,              // no memory for a copy
  kFaultPrefetchesNeighbour,  // a miss prefetches the next block
  kFaultPrefetchesNext,       // the prefetched block has an owner that had to be looked up
  kFaultKnowsOwner,           // an earlier answer names the owner of the prefetched block
  kFaultLeavesNeighbour,      // no memory for the prefetched blocks
  kFaultFollowsHome,          // a reader follows a moved home
  kFaultWaitsForMove,         // a reader waits until the bytes are at the new home
  kFaultReadsAgain,           // the home moved during the copy
  kFaultTakesHome,            // a fault takes an offered home
  kFaultFindsHomeGone,        // a fault at a former home
  kFaultEndsOffer,            // a fault at the home ends the offer of its block
  kFaultEndsOffersBehind,     // a fault at the home ends offers of blocks behind its own, too
  kFlushAwaited,              // a thread waits for the differences that it posted
  kFlushFollowsHome,
  kFlushWaitsForMove,
  kStoreEndsOffer,     // a difference or an atomic operation of a third node does
  kReleaseLooksFirst,  // one look finds which of many runs were written
  kReleaseFlushesDiff,
  kReleaseFindsNothingChanged,
  kReleaseClaimsHome,        // nobody has claimed the block: this node becomes its home
  kReleaseLosesClaim,        // another node claimed the block first
  kFaultProvesNeighbour,     // a fault shows that a refreshed copy beside it is used
  kReleaseUntracksHome,      // a tracked home was found written
  kReleaseKeepsTracked,      // the same, and it stays tracked, with a notice
  kReleaseUntracksIdle,      // the predictor ends the tracking of a home
  kReleaseUntracksUnmapped,  // the same for a home that is not in the view
  kReleaseTellsTaken,        // a notice for a home that was written while it was a copy
  kReleaseTracksWanted,
  kReleaseTracksUnmapped,  // a wanted home that is not in the view
  kReleaseBacksOff,        // the predictor leaves out a wanted block
  kReleaseWithoutNotices,
  kReleaseTellsUnchanged,  // a notice for a copy that was written without a change
  kReleaseTakesHome,
  kReleaseLeavesOffered,  // a wanted block is on offer or has moved
  kAcquireDropsLease,
  kAcquireDropsNoticed,
  kAcquireDropsEverything,  // a notice set has a hole
  kAcquireSkipsKnownInterval,
  kAcquireRefreshes,            // a refresh; the home's memory is in reach
  kAcquireRefreshesMerging,     // a refresh merges into a copy with a twin
  kAcquireRefreshesByMessage,   // a refresh; the home is out of reach
  kAcquireRefreshesByPush,      // a refresh uses a push
  kAcquireLeavesPush,           // a push that may be older than the copy is not used
  kExitPushesByTree,            // a push goes to several readers along a tree
  kPushPassedOn,                // a push is passed on to other readers
  kPushGonePassedOn,            // the same of a push that says that the home has no bytes
  kPushPassedOnByOthers,        // a node that expects no such push passes it on
  kAcquireFindsPushGone,        // the home has no bytes to push: it has to be asked
  kAcquireRefreshesTracked,     // a refreshed copy relies on notices
  kAcquireProvesRefresh,        // a miss follows after the most refreshes without a use
  kAcquireProvesNeighbour,      // a used copy shows the use of those refreshed with it
  kAcquireDropsLeftOver,        // a copy on probation is dropped: only a miss shows its use
  kAcquireRefusesSubscription,  // a subscription of a miss is not expected
  kAcquireUnmapsProbe,          // a refreshed copy becomes an unmapped probe
  kAcquireEndsSubscription,     // the reader ends a subscription
  kAcquirePredictsNothing,      // a prediction at a first miss ends: too many misses followed
  kAcquireRefreshesPredicted,   // a refresh predicted at the first miss, no use seen yet
  kAcquireProvesPredicted,      // a refresh predicted at the first miss, whose use was seen
  kFaultShowsProbe,             // a fault shows that an unmapped probe is used
  kFaultShowsNeighbour,         // a probe beside it returns to the view, too
  kFaultSkipsPresent,           // a stream passes over blocks that are here
  kFaultSeals,                  // copies enter sealed
  kFaultSharesAgain,            // a sealed copy returns to the view
  kFaultUnseals,                // a store to a sealed copy
  kAcquireRefreshesSealed,
  kInvalidateFindsSealed,
  kReleaseFindsSealed,  // a scan reports a sealed copy
  kAcquireTakesHome,    // a refresh takes an offered home
  kTakesTrackedHome,    // the new home tracks the block
  kExitOffersHome,
  kExitOffersEager,          // the block is of an eager region
  kAskedAndOffers,           // a home offers blocks that another node asked for
  kAskedWhileReleasing,      // a home that holds the consistency lock does not offer
  kAskedAndKeeps,            // the predictor keeps a home that a reader asked for
  kFaultAsksForHomes,        // a writer asks for an offer
  kFaultAsksForHomesToRead,  // a reader asks for an offer
  kFaultPrefetchesBefore,    // a miss prefetches the blocks before it
  kFaultPipelines,           // a pipelined request
  kFaultPipelinesToOwner,    // a pipelined request first looks up the owner
  kFaultAsksForHomesEarly,   // a pipelined request for an offer
  kPipelineComesShort,       // a pipelined request fetched fewer blocks
  kPipelineTakesHome,        // a pipelined request takes offered homes
  kFaultCopiesRun,           // several blocks are copied at once
  kFaultCopiesPart,          // only the first of them did not move during the copy
  kFaultSubscribes,          // a miss makes a subscription
  kAcquireKeepsSame,         // the copy is the version of the push, which has no bytes
  kAcquireAsksForSame,       // the copy is another version: the home has to be asked
  kFindsRegionFreed,         // a thread that waits for a moving home finds the region freed
  kExitOffersWritten,        // a home gives notice of its writes before the offer
  kExitEndsOffer,            // another thread may be storing: the offer is not armed
  kExitMovesOffer,           // the block is offered to another node than before
  kExitKeepsHome,            // the predictor makes no offer
  kExitDefersOffer,          // an offer waits for a later barrier exit
  kExitOffersLate,           // an offer that has waited is made
  kExitGivesNotice,          // a tracked block is offered to a node out of reach
  kShrinks,                  // a node above a limit that was lowered frees memory
  kAsksToAdopt,              // a full node asks another one to adopt homes, and waits
  kAsksToAdoptLater,         // ... and does not wait
  kAdopts,                   // a node adopts homes
  kAdoptsLess,               // a block that it was asked to adopt is not on offer any more
  kAdoptsNothing,            // it has no room
  kInvalidateFlushesDirty,
  kInvalidateClaimsHome,
  kInvalidateFindsZeros,
  kInvalidateFindsNoCopy,
  kInvalidateWaitsForBusyBlock,
  kConsistencyLockContended,
  kEvictClean,
  kEvictDirty,
  kEvictSparesRecent,  // the clock hand passes a recently used copy
  kGivesBackIdle,
  kGivesBackTwin,
  kGivesBackMoved,           // memory of a former home
  kGivesBackMovedByMessage,  // the same; the new home is out of reach
  kGivesBackNotYet,          // the new home has not got the bytes yet
  kGivesBackNothing,
  kNoticesJoined,  // too many notices: runs are joined
  kLockFreeHere,
  kLockQueuedHere,
  kLockRequested,
  kLockHandedLocally,  // the next holder is a thread of this node
  kReleaseOpensCopy,   // a copy stays open
  kReleaseClosesCopy,  // an open copy is protected again
  kLockKept,           // unlock leaves the token unreleased
  kLockReleasedLate,   // an unreleased token has to leave
  kReleaseKeptDone,    // another release has done for it
  kLockTurnExtended,
  kLockTakenInTurn,  // a thread takes the lock in an extended turn
  kLockTurnEnded,
  kLockGrantedToSuccessor,
  kLockGrantedFromRest,  // a request finds the token at rest
  kLockForwardWaits,     // a request waits until the token may leave
  kLockRequestedAgain,
  kLockManagerIsTail,
  kCountReached,  // a thread need not wait
  kCountWakesHere,
  kCountWakesElsewhere,
  kCountWokenBeforeSleep,
  kCountTravels,  // a token carries sleepers
  kBarrierLocalWait,
  kBarrierCombines,
  kBarrierReduces,
  kBarrierExits,
  kBarrierWaitsForExit,        // for an earlier exit of another barrier
  kBarrierPairNotAgreed,       // two nodes, or heads, need node 0's order of exits
  kBarrierPairApart,           // two nodes have seen different barrier exits
  kArrivalCarriesBlocks,       // an arrival carries blocks of its node
  kAcquireRefreshesByArrival,  // a refresh uses blocks of an arrival
  kAcquireLeavesOverwritten,   // a notice names a block that came with an arrival
  kBarrierHeldInMemory,
  kBarrierQuiet,  // a quiet node joins an in-memory barrier
  kBarrierNotHeld,
  kBarrierDropsLeases,  // after an in-memory barrier
  kLogTruncated,
  kLogHoleLearned,  // a notice set begins after what this node knows
  kRegionFoundHere,
  kRegionAsked,  // node 0 is asked
  kRegionUnknown,
  kRegionCollective,
  kRegionKeptInCluster,  // the directory is kept by the cluster that allocates
  kRegionFreed,
  kRegionFreedTwice,
  kDropHome,               // a drop of a freed home
  kDropCached,             // a drop of a freed copy
  kServesOwn,              // a fetch takes an armed offer
  kServesPassOn,           // a former home passes a difference on
  kServesSendBack,         // a difference came before the block: it goes back
  kServesNoPush,           // a block that has moved, or may be taken, is not pushed
  kReleaseExpires,         // an eager release sends an expiry
  kReleaseWaitsForExpiry,  // an eager release waits for other expiries of its node
  kExpiryFindsCopies,
  kExpiryPassedOn,
  kAcquireUpdates,     // a refresh in a region that is updated, not invalidated
  kLockRefreshes,      // a refresh at the acquire of a lock
  kLockHeldBack,       // the manager holds a request back
  kLockInserts,        // a requester is put before the last one in line
  kLockInsertRefused,  // it is not
  kLockNamesBlocks,    // a request names wanted blocks
  kLockNamesTooMany,
  kGrantCarriesBlocks,
  kLockRefreshesByGrant,  // a refresh uses blocks of a grant
  kLockLeavesGranted,     // blocks of a grant that may be old are not used
  kAtomicAtHome,
  kAtomicElsewhere,  // at another node's home, in reach
  kAtomicByMessage,  // at a home out of reach
  kAtomicFollowsHome,
  kAtomicAsksAgain,    // the block is just moving
  kAtomicPatchesCopy,  // the copy of this node is updated
  kLockTriedInUseHere,
  kLockTriedInUse,
  kLockTriedAtRest,        // the tail of the queue gives its unused token
  kLockTryHoldsBack,       // requests wait for the answer to a try
  kLockRequestedAfterTry,  // after a try in vain, for threads that wait behind it
  kHeadArrives,            // a cluster's head arrives at the other head
  kLockManagerMoves,       // an unused lock goes to the agent that asks
  kLockRelayed,            // an agent passes a request to the manager
  kLockAgentHoldsBack,     // requests wait until the agent knows the manager
  kLockPrefersCluster,
  kPushEntersCluster,
  kExitCutsRuns,        // pushed runs are cut to cross a link once
  kAcquireJoinsPushes,  // one run is taken from several pushes
  kCountExpires,
  kCountGivenUp,
  kCountGivenUpWakes,
  kCountWokenBeforeGivenUp,  // a wake came first: the sleeper does not give up
  kCountSharesRoom,          // a reader of a read-write lock
  kCountArrives,             // an arrival at a rendezvous
  kGatherInMemory,
  kGatherNotInMemory,
  kGatherByMessages,
  kGatherHearsHead,  // the root has the notices of the other cluster
  kPageBegins,
  kInstallOwn,
  kInstallKnowsAll,
  kInstallAcquires,
  kYieldReleases,
  kPromotes,
  kPromoteFindsMoved,
  kPromoteFindsBusy,
  kPromoteEndsOffer,
  kPromoteGivesNotice,  // the home may have been written since its last release
  kPromoteDropsCopy,
  kPromoteClaimsZeros,
  kFaultFindsSynchronises,
  kFaultFindsElsewhere,
  kFenceAwaitsOthers,
  kFenceHears,
  kFenceWaitsForSibling,
  kFenceWaitsForOther,
  kFenceKeepsNamesAlone,
  kFenceCounts,         // an announcement without answers
  kFenceAwaitsCounted,  // one was counted, and has not come yet
  kCount,
};

// Planted faults: each breaks one rule, and the simulator must find it. The numbers are those of
// the rules in docs/design/coherence.md.
enum class Mutant : std::uint8_t {
  kNone,
  kDiffWords,               // rule 1: a flush stores whole words, not only the bytes that differ
  kFlushWholeBlock,         // rule 2: a flush stores the whole block, also what other nodes wrote
  kDiffBeforeZap,           // rule 4: the difference is taken before the zap
  kInvalidateWithoutDiff,   // rule 4: a written copy is dropped without its difference
  kPublishBeforeProtect,    // rule 5: "tracked" is published before the home is protected
  kKeepTrackedWhenWritten,  // rule 5: a home that is found written stays tracked, without a notice
  kKeepsTrackedWritable,    // rule 5: ... with a notice, but its next write is not detected
  kUntrackSilently,         // rule 5: a home ends the tracking of a block without a notice
  kKeepLease,               // rule 5: an acquire does not drop the leases
  kLateCachedMark,     // rule 5: a copy enters the sets after it is made, so an acquire may miss it
  kTwinCopiedApart,    // rule 6: the twin is copied again after the difference was taken
  kTwinFromHome,       // rule 6: the twin is copied from the home, not from the copy
  kFlushAfterGrant,    // rule 8: a release is visible before its flush
  kForgetInvalidated,  // a written copy that an acquire flushes gives no notice
  kGrantWithoutNotices,   // a grant carries no notices
  kForgetOthersNotices,   // a grant carries only the intervals of the granter itself
  kIgnoreLogHole,         // a node trusts a notice set that begins after what the node knows
  kBarrierForgetsChild,   // a barrier does not merge the notices of one child
  kBarrierOwnNotices,     // an arrival leaves out the intervals that its node learned with locks
  kExitsUnordered,        // a barrier exit is applied before an earlier one of another barrier
  kBarrierEarly,          // a barrier ends while one arrival is missing
  kOpenNotCompared,       // a release does not compare the open copies with their twins
  kOpenKeepsTwin,         // a flush of an open copy does not update its twin
  kGrantUnreleased,       // an unreleased token leaves the node without a release
  kKeptNotHeld,           // a thread may take an unreleased token while its late release is made
  kKeptTrustsOldRelease,  // a release that began before the unlock counts as the late release
  kEndTurnUnreleased,     // an extended turn ends, and the token leaves without a release
  kEndTurnWhileHeld,      // an extended turn ends while a thread holds the lock
  kLockTwoHolders,        // a forwarded request is granted while a thread holds the lock
  kClaimWithoutSwap,      // rule 11: a claim is a load and a store, not a compare-and-swap
  kHandoffAcrossNodes,    // a lock goes to a holder on another node without a release
  kNoReleaseLock,         // two releases of a node run at once, without the consistency lock
  kTrackAgain,        // a tracked block is protected again, so a scan misses what was written to it
  kTrackCopies,       // a node tracks a block that is a copy there, because late readers want it
  kLookOnceForClaim,  // rule 11: a reader looks for an owner only before its copy is in the sets
  kKeepFailedFetch,   // a fetch that found no memory leaves its block among the copies
  kReuseEarly,  // rule 12: freed blocks are allocated again before all nodes have dropped them
  kDropOnce,    // rule 12: a freed region is dropped once, and flushes reach its homes afterwards
  kDropKeepsMemory,       // rule 12: a freed block keeps its bytes
  kLoseWake,              // a thread that waits for the consistency lock is not woken
  kFetchCopiesFirst,      // rule 5: a home copies for a fetch before it looks whether it tracks
  kCloseBeforeFlushed,    // rule 8: an interval closes before posted differences are at the homes
  kInvalidBeforeFlushed,  // rule 4: a block is INVALID before its posted difference is at the home
  kRefreshOverwrites,     // rule 7: a refresh overwrites what this node's threads have written
  kRefreshKeepsTwin,      // rule 7: a refresh updates the copy but not its twin
  kRefreshTrusts,         // rule 5: a refreshed copy of an untracked block is no lease
  kPushAfterOthers,       // a push is used though its reader flushed or acquired since its arrival
  kPushOfOtherBlocks,     // the first block of a pushed run is used for any block of the run
  kPushOfAnyExit,         // a push of another barrier exit is used for this one
  kPushForgetsReader,     // a push tree leaves out one reader
  kPushOfPassingNode,     // a push counts as one of the node that passed it on
  kPushGoneUnreported,    // a node does not pass on that a home has no bytes to push
  kPushEndsWhereUnread,   // a node that does not expect a push does not pass it on
  kRefreshUnlocked,       // rule 7: a copy is refreshed without the block's lock
  kOfferMapped,           // rule 9: a home offers a block that its own threads still see
  kOfferForgetsWrites,    // what a home wrote to a tracked block before the offer gets no notice
  kOfferDespiteFlush,   // an offer is armed while a thread that did not see it may be storing there
  kStoreKeepsOffer,     // a flush does not end the offer to another node
  kStoresBeforeReturn,  // a flush by messages stores at a home that is just coming back
  kStoreAtFormerHome,   // rule 10: a flush stores at the former home
  kReadFormerHome,      // rule 10: a reader copies the bytes of the former home
  kReadTooEarly,        // rule 10: a reader copies from the new home before the bytes are there
  kReadOnce,            // rule 10: a reader does not load the home word again after the copy
  kMoveWithoutSwap,     // rule 10: the writer overwrites the home word, whatever it is by then
  kTakeForgetsTracked,  // a node that takes a tracked home neither tracks it nor gives notice
  kTrackOffered,        // a home tracks a block that is on offer or has moved
  kTrackSaysHere,       // a node that tracks a block sets kHere though it may not be the home
  kStoreTooEarly,       // rule 10: a difference is stored at a new home before the bytes are there
  kApplyUncounted,      // an offer is armed while a difference that came by message is applied
  kPassOnUnawaited,     // a release does not wait for differences that a former home passes on
  kChangeBeforeFlush,   // a count is changed before the writes that it announces are flushed
  kGrantForgetsCount,   // a token loses its count
  kGrantForgetsSleepers,   // a token loses the sleepers of its count
  kEarlyWakeLost,          // a wake that comes before its thread sleeps is lost
  kWakeIsEnough,           // a woken thread makes no acquire
  kTicketTwice,            // two waiters get the same ticket
  kConditionUnlocksFirst,  // a thread unlocks before it has the condition's ticket
  kReduceForgetsThread,    // a reduction leaves out the threads that wait on their node
  kReduceForgetsChild,     // a reduction leaves out one subtree
  kReduceKeepsOld,         // a reduction includes the values of the round before
  kEvictWithoutDiff,       // rule 17: a written copy is evicted without its difference
  kEvictWithoutNotice,     // rule 17: what an eviction flushed gets no notice
  kPunchBeforeDiff,        // rule 3: the memory of a copy is punched before its difference is taken
  kTwinBeforeDiff,         // rule 3: a twin is dropped before the difference of its copy is taken
  kGiveBackUnlocked,  // idle memory is given back without the block's lock, while a fetch fills it
  kGiveBackEarly,     // a former home's memory is given back before the new home has the bytes
  kGiveBackOffered,   // the memory of a home on offer is given back before the home has moved
  kExpiryForgotten,   // an eager release sends no expiry
  kSiblingsExpiryUnawaited,  // an eager release does not wait for earlier expiries of its node
  kExpirySparesBusy,         // an expiry spares copies that are in the making
  kExpiryForgetsChild,       // an expiry does not reach one subtree
  kSettleUnconfirmed,        // a new home out of reach is asked without the word of the former home
  kAdoptsUnoffered,          // a node adopts a home that was not offered to it
  kShrinkDropsHome,          // a node whose limit was lowered drops a home that nobody adopts
  kClaimTracked,         // a run of first writes claims a block that was tracked since it was freed
  kAtomicForgetsCopy,    // an atomic operation does not update the copy of its node
  kAtomicWithoutNotice,  // an atomic operation gives no notice
  kAtomicBeforeFlush,    // an atomic operation precedes the flush of its node's own writes
  kAtomicKeepsTracked,   // an atomic operation at a tracked home gives no notice
  kExpiryAnsweredEarly,  // a node answers an expiry before its copies are gone
  kInMemoryWithNotices,  // an in-memory barrier is held though a node has intervals that others
                         // lack
  kInMemoryApart,  // an in-memory barrier is held though not all nodes have applied the same exits
  kInMemoryKeepsLeases,  // a lease outlives an in-memory barrier
  kQuietForgetsChanges,  // a node joins an in-memory barrier as quiet though something has changed
  kQuietForgetsCopies,   // a node joins an in-memory barrier as quiet though it has copies
  kWithdrawsTooLate,     // a node withdraws from a round that was held, and waits for messages
  kTakeTrustsWord,       // a node that takes an untracked home neither tracks it nor gives notice
  kGrantOthersBlocks,    // a grant carries blocks of which the granter is not the home
  kGrantAfterOthers,     // blocks of a grant are used though the reader flushed or acquired
  kGrantDuringFlush,     // blocks of a grant are used though the reader asked during a flush
  kInsertUnbounded,      // requesters near the holder overtake a waiting node without limit
  kGrantForgetsThen,     // a grant loses the node that its receiver was put before in the queue
  kForgetsWhereFrom,  // the part of a run that was read at a new home counts as the former home's
  kFollowsFreed,  // a thread waits for a moving home without a check that the region still exists
  kArrivalAfterLocks,  // blocks of an arrival are used though their reader acquired otherwise
  kArrivalApart,    // blocks of an arrival are used though the nodes have not seen the same exits
  kArrivalOverOwn,  // blocks of an arrival are used though their reader has written them, too
  kRefreshSettlesEarly,   // a refreshed copy ends as a lease before the fetched bytes are merged
  kPipelineKeepsShort,    // blocks that a pipelined request did not fetch are entered as copies
  kEndsSubscriptionLate,  // a reader ends a subscription after it has asked the home again
  kRemovedEntryIsClean,   // a block whose entry the kernel removed enters the view as unwritten
  kProbeForgetsWrites,    // what was written before a copy becomes an unmapped probe is lost
  kPipelineTrustsOwner,  // a pipelined request asks the home of the miss for another owner's blocks
  kMovesTakenOffer,      // a block is offered to another node while the first one may be taking it
  kExpectsWhatEnded,     // a reader expects pushes of a subscription that it has ended meanwhile
  kKeepsAnyVersion,      // a copy stays though it is not the version of the push
  kFlushKeepsVersion,    // a copy keeps its version though this node has flushed writes to it
  kMissKeepsVersion,     // a copy keeps its version after a miss or another refresh
  kScansOneSuspect,      // of the runs that one look finds written only the first is scanned
  kReturnsWhatWent,      // a fault at the home returns offered blocks behind it that have moved
  kProbeShowsDropped,    // blocks that return to the view with an unmapped probe may have been
                         // dropped
  kTryKeepsTail,         // a successful try does not change the tail of the manager's queue
  kTryForgetsHeldBack,   // requests that wait for the answer to a try are lost
  kTryForgetsWaiters,    // after a try in vain the lock is not requested for the threads behind it
  kGiveUpKeepsTicket,    // a thread that gives up leaves a ticket that no thread waits for
  kGiveUpKeepsOrder,     // after a thread has given up, later tickets are not reduced
  kGiveUpDespiteWake,    // a thread gives up though a signal was spent to wake it
  kShareWithWriter,      // a writer takes the room of one reader only
  kArriveForNextRound,   // the last thread of a round waits for the next round
  kCountTrustsUnapplied,  // a count is used before what came with its token is applied
  kCountLearnsUnlocked,   // a token's notices are learned and applied without one lock over both
  kSleepersKnowAsMuch,    // a wake carries only the notices that the last sleeper does not know
  kServeUnswapped,        // by message: a reader becomes the home though its offer has ended
  kServeUncounted,  // by message: a home that is being given away is not counted (CountGiving)
  kAnswersBeforeApplied,  // a home answers a flush before it has stored the differences
  kAtomicUncounted,       // an offer is armed while an atomic operation is done
  kPushesFreed,           // a home pushes the bytes of a freed block
  kReplacedEndsEarly,     // a subscription that a longer run replaces ends before the exit that has
                          // begun
  kCountsOthersBlocks,    // a directory's answer for one owner includes blocks of another owner
  kHeadForgetsCluster,    // a cluster's head sends the other head only its own notices
  kHeadEarly,             // a cluster's head arrives before all nodes of its cluster
  kLockGivenUsed,         // a lock's first manager gives the lock away though nodes have used it
  kLockMovesTokenStays,   // a lock's first manager gives the lock away but keeps the token
  kAgentForgetsOthers,    // an agent passes on only the first of the requests that it held back
  kPushForgetsCluster,    // a push that has entered a cluster is not passed on there
  kNamesOthersHomes,      // the answer of a RegionFind names one block too many of the same home
  kReaderForgetsDirectory,  // a reader asks for a block's owner at a node that does not keep it
  kCutForgetsReader,        // of a run that is cut for a link, one reader gets only the first part
  kGatherEarly,             // a join ends while one thread or node is missing
  kGatherForgetsNotices,    // a join ends, and the root does not learn what the other nodes changed
  kGatherForgetsHead,  // a join ends, and the root does not learn what the other cluster changed
  kGatherKeepsLeases,  // leases of the root outlive a join in memory
  kGatherApart,        // a join is held in memory though not all nodes have applied the same exits
  kForkKeepsPayload,   // a fork delivers the payload of the fork before it
  kArrivesTwice,       // after an in-memory barrier was held, a node also arrives by message
  kReleaseInService,   // a thread makes a release in the middle of an offer that it makes
  kSealsUnguarded,     // a copy without a twin enters so that stores to it are only noted
  kRemapsSealed,       // ... or returns to the view so
  kUnsealsBeforeTwin,  // stores pass before there is a twin
  kFlushesSealed,      // a copy without a twin is compared with what a former one left there
  kMergesSealed,       // ... and so is what a refresh of it fetches
  // Of synchronisation pages (docs/design/synchronisation.md):
  kGrantBeforeReady,       // the home grants a page of which other nodes still have copies
  kForgetWriter,           // the home forgets which node wrote the page last
  kInstallWithoutAcquire,  // a holder does not acquire what the last writer released
  kYieldWithoutRelease,    // a page that was written leaves without a release
  kShareUnsealed,          // stores to a copy that stays are only noted, for a scan
  kReleaseBeforeZap,       // the release comes while the page can still be written
  kPromoteWithoutRelease,  // a node drops its copy for good without a release
  kPromoteWithoutAcquire,  // who makes such a page does not acquire what the others released
  kPromoteForgetsWrites,   // the home gives no notice of what was stored just before
  kPromoteOffered,         // a home that is on offer becomes the home of such a page
  kPrefetchSynchronises,   // such a page is fetched as a copy, beside a missed page
  kTrackSynchronises,      // or tracked by its home
  kSequentialCopies,       // in a job with one order, a miss fetches a copy
  // Of fences:
  kFenceWithoutRelease,    // tells nothing of what was written since the last release
  kFenceUnannounced,       // ends without having told the other nodes
  kFenceAnswersEarly,      // ends before they have heard it
  kFenceUncounted,         // an announcement without an answer is not counted
  kFenceTrustsIncomplete,  // of what another node tells, trusts that all have heard it already
  kFenceForgetsNews,       // does not acquire what others have told
  kFenceTrustsUnapplied,   // takes what another thread has learned for applied
  kFenceKeepsLeases,       // keeps leases where nobody has told anything
  // Of homes that look for races (protocol/races):
  kCheckMissesDisplaced,  // a difference hides what the home's own threads have just changed
  kCheckLeavesUntracked,  // a home's own changes are not looked for
  kCheckJoinsIntervals,   // an interval goes on over an acquire
  kCheckStoresDirectly,   // a difference goes to a home in reach without its knowledge
  kCheckTrustsTwin,       // a difference does not go to the twin: it looks like the home's own
  kCheckKeepsAtomics,     // atomic operations count as changes of the home's threads
  kCheckLeavesReadsOpen,  // an interval that only reads is not closed
  kCheckClosesReadsLate,  // accesses belong to the interval behind the release
  kCheckIgnoresReads,     // accesses are compared only if both are writes
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
// Of one protocol: how often each mark was reached, and the planted fault that is chosen, if any.
template <typename Mark, typename Mutant>
struct InstrumentationOf {
  std::uint64_t marks[static_cast<std::size_t>(Mark::kCount)] = {};
  Mutant mutant = Mutant::kNone;
};
using Instrumentation = InstrumentationOf<Mark, Mutant>;
// One for each thread: a simulation runs on one thread.
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
