#include "sim/names.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace terrane::sim {
namespace {

using protocol::Mark;
using protocol::Mutant;

// In the order of the enumerations.
constexpr std::string_view kMarks[] = {"FaultWaitsForBusyBlock",
                                       "FaultFindsBlockPresent",
                                       "FaultOutsideRegions",
                                       "FaultAtHome",
                                       "FaultAtTrackedHome",
                                       "FaultAtHomeForWriting",
                                       "FaultFetchesTracked",
                                       "FaultFetchesLease",
                                       "FaultFetchesTrackedByMessage",
                                       "FaultFetchesLeaseByMessage",
                                       "FaultTakesHomeByMessage",
                                       "FaultFindsWantedSet",
                                       "FaultReadsUnclaimed",
                                       "FaultClaimsHome",
                                       "FaultClaimsNext",
                                       "FaultClaimsBefore",
                                       "FaultLosesClaim",
                                       "FaultSeesClaimLate",
                                       "FaultFirstWriteTwins",
                                       "FaultFetchesForWriting",
                                       "FaultMakesRoom",
                                       "Trims",
                                       "FaultGivesUp",
                                       "FaultPrefetchesNeighbour",
                                       "FaultPrefetchesNext",
                                       "FaultKnowsOwner",
                                       "FaultLeavesNeighbour",
                                       "FaultFollowsHome",
                                       "FaultWaitsForMove",
                                       "FaultReadsAgain",
                                       "FaultTakesHome",
                                       "FaultFindsHomeGone",
                                       "FaultEndsOffer",
                                       "FaultEndsOffersBehind",
                                       "FlushAwaited",
                                       "FlushFollowsHome",
                                       "FlushWaitsForMove",
                                       "StoreEndsOffer",
                                       "ReleaseLooksFirst",
                                       "ReleaseFlushesDiff",
                                       "ReleaseFindsNothingChanged",
                                       "ReleaseClaimsHome",
                                       "ReleaseLosesClaim",
                                       "FaultProvesNeighbour",
                                       "ReleaseUntracksHome",
                                       "ReleaseKeepsTracked",
                                       "ReleaseUntracksIdle",
                                       "ReleaseUntracksUnmapped",
                                       "ReleaseTellsTaken",
                                       "ReleaseTracksWanted",
                                       "ReleaseTracksUnmapped",
                                       "ReleaseBacksOff",
                                       "ReleaseWithoutNotices",
                                       "ReleaseTellsUnchanged",
                                       "ReleaseTakesHome",
                                       "ReleaseLeavesOffered",
                                       "AcquireDropsLease",
                                       "AcquireDropsNoticed",
                                       "AcquireDropsEverything",
                                       "AcquireSkipsKnownInterval",
                                       "AcquireRefreshes",
                                       "AcquireRefreshesMerging",
                                       "AcquireRefreshesByMessage",
                                       "AcquireRefreshesByPush",
                                       "AcquireLeavesPush",
                                       "ExitPushesByTree",
                                       "PushPassedOn",
                                       "PushGonePassedOn",
                                       "PushPassedOnByOthers",
                                       "AcquireFindsPushGone",
                                       "AcquireRefreshesTracked",
                                       "AcquireProvesRefresh",
                                       "AcquireProvesNeighbour",
                                       "AcquireDropsLeftOver",
                                       "AcquireRefusesSubscription",
                                       "AcquireUnmapsProbe",
                                       "AcquireEndsSubscription",
                                       "AcquirePredictsNothing",
                                       "AcquireRefreshesPredicted",
                                       "AcquireProvesPredicted",
                                       "FaultShowsProbe",
                                       "FaultShowsNeighbour",
                                       "FaultSkipsPresent",
                                       "FaultSeals",
                                       "FaultSharesAgain",
                                       "FaultUnseals",
                                       "AcquireRefreshesSealed",
                                       "InvalidateFindsSealed",
                                       "ReleaseFindsSealed",
                                       "AcquireTakesHome",
                                       "TakesTrackedHome",
                                       "ExitOffersHome",
                                       "ExitOffersEager",
                                       "AskedAndOffers",
                                       "AskedWhileReleasing",
                                       "AskedAndKeeps",
                                       "FaultAsksForHomes",
                                       "FaultAsksForHomesToRead",
                                       "FaultPrefetchesBefore",
                                       "FaultPipelines",
                                       "FaultPipelinesToOwner",
                                       "FaultAsksForHomesEarly",
                                       "PipelineComesShort",
                                       "PipelineTakesHome",
                                       "FaultCopiesRun",
                                       "FaultCopiesPart",
                                       "FaultSubscribes",
                                       "AcquireKeepsSame",
                                       "AcquireAsksForSame",
                                       "FindsRegionFreed",
                                       "ExitOffersWritten",
                                       "ExitEndsOffer",
                                       "ExitMovesOffer",
                                       "ExitKeepsHome",
                                       "ExitDefersOffer",
                                       "ExitOffersLate",
                                       "ExitGivesNotice",
                                       "Shrinks",
                                       "AsksToAdopt",
                                       "AsksToAdoptLater",
                                       "Adopts",
                                       "AdoptsLess",
                                       "AdoptsNothing",
                                       "InvalidateFlushesDirty",
                                       "InvalidateClaimsHome",
                                       "InvalidateFindsZeros",
                                       "InvalidateFindsNoCopy",
                                       "InvalidateWaitsForBusyBlock",
                                       "ConsistencyLockContended",
                                       "EvictClean",
                                       "EvictDirty",
                                       "EvictSparesRecent",
                                       "GivesBackIdle",
                                       "GivesBackTwin",
                                       "GivesBackMoved",
                                       "GivesBackMovedByMessage",
                                       "GivesBackNotYet",
                                       "GivesBackNothing",
                                       "NoticesJoined",
                                       "LockFreeHere",
                                       "LockQueuedHere",
                                       "LockRequested",
                                       "LockHandedLocally",
                                       "ReleaseOpensCopy",
                                       "ReleaseClosesCopy",
                                       "LockKept",
                                       "LockReleasedLate",
                                       "ReleaseKeptDone",
                                       "LockTurnExtended",
                                       "LockTakenInTurn",
                                       "LockTurnEnded",
                                       "LockGrantedToSuccessor",
                                       "LockGrantedFromRest",
                                       "LockForwardWaits",
                                       "LockRequestedAgain",
                                       "LockManagerIsTail",
                                       "CountReached",
                                       "CountWakesHere",
                                       "CountWakesElsewhere",
                                       "CountWokenBeforeSleep",
                                       "CountTravels",
                                       "BarrierLocalWait",
                                       "BarrierCombines",
                                       "BarrierReduces",
                                       "BarrierExits",
                                       "BarrierWaitsForExit",
                                       "BarrierPairNotAgreed",
                                       "BarrierPairApart",
                                       "ArrivalCarriesBlocks",
                                       "AcquireRefreshesByArrival",
                                       "AcquireLeavesOverwritten",
                                       "BarrierHeldInMemory",
                                       "BarrierQuiet",
                                       "BarrierNotHeld",
                                       "BarrierDropsLeases",
                                       "LogTruncated",
                                       "LogHoleLearned",
                                       "RegionFoundHere",
                                       "RegionAsked",
                                       "RegionUnknown",
                                       "RegionCollective",
                                       "RegionKeptInCluster",
                                       "RegionFreed",
                                       "RegionFreedTwice",
                                       "DropHome",
                                       "DropCached",
                                       "ServesOwn",
                                       "ServesPassOn",
                                       "ServesSendBack",
                                       "ServesNoPush",
                                       "ReleaseExpires",
                                       "ReleaseWaitsForExpiry",
                                       "ExpiryFindsCopies",
                                       "ExpiryPassedOn",
                                       "AcquireUpdates",
                                       "LockRefreshes",
                                       "LockHeldBack",
                                       "LockInserts",
                                       "LockInsertRefused",
                                       "LockNamesBlocks",
                                       "LockNamesTooMany",
                                       "GrantCarriesBlocks",
                                       "LockRefreshesByGrant",
                                       "LockLeavesGranted",
                                       "AtomicAtHome",
                                       "AtomicElsewhere",
                                       "AtomicByMessage",
                                       "AtomicFollowsHome",
                                       "AtomicAsksAgain",
                                       "AtomicPatchesCopy",
                                       "LockTriedInUseHere",
                                       "LockTriedInUse",
                                       "LockTriedAtRest",
                                       "LockTryHoldsBack",
                                       "LockRequestedAfterTry",
                                       "HeadArrives",
                                       "LockManagerMoves",
                                       "LockRelayed",
                                       "LockAgentHoldsBack",
                                       "LockPrefersCluster",
                                       "PushEntersCluster",
                                       "ExitCutsRuns",
                                       "AcquireJoinsPushes",
                                       "CountExpires",
                                       "CountGivenUp",
                                       "CountGivenUpWakes",
                                       "CountWokenBeforeGivenUp",
                                       "CountSharesRoom",
                                       "CountArrives",
                                       "GatherInMemory",
                                       "GatherNotInMemory",
                                       "GatherByMessages",
                                       "GatherHearsHead",
                                       "PageBegins",
                                       "InstallOwn",
                                       "InstallKnowsAll",
                                       "InstallAcquires",
                                       "YieldReleases",
                                       "Promotes",
                                       "PromoteFindsMoved",
                                       "PromoteFindsBusy",
                                       "PromoteEndsOffer",
                                       "PromoteGivesNotice",
                                       "PromoteDropsCopy",
                                       "PromoteClaimsZeros",
                                       "FaultFindsSynchronises",
                                       "FaultFindsElsewhere",
                                       "FenceAwaitsOthers",
                                       "FenceHears",
                                       "FenceWaitsForSibling",
                                       "FenceWaitsForOther",
                                       "FenceKeepsNamesAlone",
                                       "FenceCounts",
                                       "FenceAwaitsCounted"};
constexpr std::string_view kMutants[] = {"None",
                                         "DiffWords",
                                         "FlushWholeBlock",
                                         "DiffBeforeZap",
                                         "InvalidateWithoutDiff",
                                         "PublishBeforeProtect",
                                         "KeepTrackedWhenWritten",
                                         "KeepsTrackedWritable",
                                         "UntrackSilently",
                                         "KeepLease",
                                         "LateCachedMark",
                                         "TwinCopiedApart",
                                         "TwinFromHome",
                                         "FlushAfterGrant",
                                         "ForgetInvalidated",
                                         "GrantWithoutNotices",
                                         "ForgetOthersNotices",
                                         "IgnoreLogHole",
                                         "BarrierForgetsChild",
                                         "BarrierOwnNotices",
                                         "ExitsUnordered",
                                         "BarrierEarly",
                                         "OpenNotCompared",
                                         "OpenKeepsTwin",
                                         "GrantUnreleased",
                                         "KeptNotHeld",
                                         "KeptTrustsOldRelease",
                                         "EndTurnUnreleased",
                                         "EndTurnWhileHeld",
                                         "LockTwoHolders",
                                         "ClaimWithoutSwap",
                                         "HandoffAcrossNodes",
                                         "NoReleaseLock",
                                         "TrackAgain",
                                         "TrackCopies",
                                         "LookOnceForClaim",
                                         "KeepFailedFetch",
                                         "ReuseEarly",
                                         "DropOnce",
                                         "DropKeepsMemory",
                                         "LoseWake",
                                         "FetchCopiesFirst",
                                         "CloseBeforeFlushed",
                                         "InvalidBeforeFlushed",
                                         "RefreshOverwrites",
                                         "RefreshKeepsTwin",
                                         "RefreshTrusts",
                                         "PushAfterOthers",
                                         "PushOfOtherBlocks",
                                         "PushOfAnyExit",
                                         "PushForgetsReader",
                                         "PushOfPassingNode",
                                         "PushGoneUnreported",
                                         "PushEndsWhereUnread",
                                         "RefreshUnlocked",
                                         "OfferMapped",
                                         "OfferForgetsWrites",
                                         "OfferDespiteFlush",
                                         "StoreKeepsOffer",
                                         "StoresBeforeReturn",
                                         "StoreAtFormerHome",
                                         "ReadFormerHome",
                                         "ReadTooEarly",
                                         "ReadOnce",
                                         "MoveWithoutSwap",
                                         "TakeForgetsTracked",
                                         "TrackOffered",
                                         "TrackSaysHere",
                                         "StoreTooEarly",
                                         "ApplyUncounted",
                                         "PassOnUnawaited",
                                         "ChangeBeforeFlush",
                                         "GrantForgetsCount",
                                         "GrantForgetsSleepers",
                                         "EarlyWakeLost",
                                         "WakeIsEnough",
                                         "TicketTwice",
                                         "ConditionUnlocksFirst",
                                         "ReduceForgetsThread",
                                         "ReduceForgetsChild",
                                         "ReduceKeepsOld",
                                         "EvictWithoutDiff",
                                         "EvictWithoutNotice",
                                         "PunchBeforeDiff",
                                         "TwinBeforeDiff",
                                         "GiveBackUnlocked",
                                         "GiveBackEarly",
                                         "GiveBackOffered",
                                         "ExpiryForgotten",
                                         "SiblingsExpiryUnawaited",
                                         "ExpirySparesBusy",
                                         "ExpiryForgetsChild",
                                         "SettleUnconfirmed",
                                         "AdoptsUnoffered",
                                         "ShrinkDropsHome",
                                         "ClaimTracked",
                                         "AtomicForgetsCopy",
                                         "AtomicWithoutNotice",
                                         "AtomicBeforeFlush",
                                         "AtomicKeepsTracked",
                                         "ExpiryAnsweredEarly",
                                         "InMemoryWithNotices",
                                         "InMemoryApart",
                                         "InMemoryKeepsLeases",
                                         "QuietForgetsChanges",
                                         "QuietForgetsCopies",
                                         "WithdrawsTooLate",
                                         "TakeTrustsWord",
                                         "GrantOthersBlocks",
                                         "GrantAfterOthers",
                                         "GrantDuringFlush",
                                         "InsertUnbounded",
                                         "GrantForgetsThen",
                                         "ForgetsWhereFrom",
                                         "FollowsFreed",
                                         "ArrivalAfterLocks",
                                         "ArrivalApart",
                                         "ArrivalOverOwn",
                                         "RefreshSettlesEarly",
                                         "PipelineKeepsShort",
                                         "EndsSubscriptionLate",
                                         "RemovedEntryIsClean",
                                         "ProbeForgetsWrites",
                                         "PipelineTrustsOwner",
                                         "MovesTakenOffer",
                                         "ExpectsWhatEnded",
                                         "KeepsAnyVersion",
                                         "FlushKeepsVersion",
                                         "MissKeepsVersion",
                                         "ScansOneSuspect",
                                         "ReturnsWhatWent",
                                         "ProbeShowsDropped",
                                         "TryKeepsTail",
                                         "TryForgetsHeldBack",
                                         "TryForgetsWaiters",
                                         "GiveUpKeepsTicket",
                                         "GiveUpKeepsOrder",
                                         "GiveUpDespiteWake",
                                         "ShareWithWriter",
                                         "ArriveForNextRound",
                                         "CountTrustsUnapplied",
                                         "CountLearnsUnlocked",
                                         "SleepersKnowAsMuch",
                                         "ServeUnswapped",
                                         "ServeUncounted",
                                         "AnswersBeforeApplied",
                                         "AtomicUncounted",
                                         "PushesFreed",
                                         "ReplacedEndsEarly",
                                         "CountsOthersBlocks",
                                         "HeadForgetsCluster",
                                         "HeadEarly",
                                         "LockGivenUsed",
                                         "LockMovesTokenStays",
                                         "AgentForgetsOthers",
                                         "PushForgetsCluster",
                                         "NamesOthersHomes",
                                         "ReaderForgetsDirectory",
                                         "CutForgetsReader",
                                         "GatherEarly",
                                         "GatherForgetsNotices",
                                         "GatherForgetsHead",
                                         "GatherKeepsLeases",
                                         "GatherApart",
                                         "ForkKeepsPayload",
                                         "ArrivesTwice",
                                         "ReleaseInService",
                                         "SealsUnguarded",
                                         "RemapsSealed",
                                         "UnsealsBeforeTwin",
                                         "FlushesSealed",
                                         "MergesSealed",
                                         "GrantBeforeReady",
                                         "ForgetWriter",
                                         "InstallWithoutAcquire",
                                         "YieldWithoutRelease",
                                         "ShareUnsealed",
                                         "ReleaseBeforeZap",
                                         "PromoteWithoutRelease",
                                         "PromoteWithoutAcquire",
                                         "PromoteForgetsWrites",
                                         "PromoteOffered",
                                         "PrefetchSynchronises",
                                         "TrackSynchronises",
                                         "SequentialCopies",
                                         "FenceWithoutRelease",
                                         "FenceUnannounced",
                                         "FenceAnswersEarly",
                                         "FenceUncounted",
                                         "FenceTrustsIncomplete",
                                         "FenceForgetsNews",
                                         "FenceTrustsUnapplied",
                                         "FenceKeepsLeases",
                                         "CheckMissesDisplaced",
                                         "CheckLeavesUntracked",
                                         "CheckJoinsIntervals",
                                         "CheckStoresDirectly",
                                         "CheckTrustsTwin",
                                         "CheckKeepsAtomics",
                                         "CheckLeavesReadsOpen",
                                         "CheckClosesReadsLate",
                                         "CheckIgnoresReads"};
constexpr std::string_view kFaults[] = {
    "None",      "WrongValue",  "NodesDisagree", "TwoHolders", "BarrierLeak", "Deadlock",
    "Endless",   "Invariant",   "Malformed",     "BadAnswer",  "BadStep",     "WrongMessage",
    "FalseLoss", "TooMuchHeld", "InventedRace",  "MissedRace"};
constexpr std::string_view kEvents[] = {
    "lock acquire",    "lock try",      "lock hand-off",  "lock end turn",  "lock release",
    "lock held",       "count change",  "count await",    "count sleep",    "count expire",
    "count give up",   "barrier enter", "barrier gather", "barrier told",   "barrier arrive",
    "barrier result",  "barrier leave", "close interval", "learn",          "region allocate",
    "region find",     "region extent", "region free",    "region dropped", "sc ask",
    "sc await",        "sc installed",  "sc yielded",     "sc give back",   "sc serve",
    "sc ready",        "ask notices",   "announce",       "next announced", "await announced",
    "expire copies",   "expired",       "ask offer",      "offer made",     "ask adoption",
    "await adoptions", "adoption made", "received"};
constexpr std::string_view kOps[] = {
    "load",        "store",      "lock",       "unlock",     "barrier",    "side barrier",
    "gather",      "add",        "set",        "await",      "post",       "take",
    "ready",       "condition",  "signal",     "evict",      "allocate",   "doomed store",
    "free",        "free again", "nowhere",    "final load", "atomic",     "prepare",
    "arrive",      "limit",      "promote",    "flag store", "flag await", "flag swap",
    "flag yields", "fence",      "fence await"};
constexpr std::string_view kAtomics[] = {"load", "store", "add",         "and",
                                         "or",   "xor",   "compare swap"};
constexpr std::string_view kMessages[] = {
    "none",         "lock request",    "lock forward",    "lock grant",     "barrier arrive",
    "barrier exit", "region allocate", "region find",     "region reply",   "region free",
    "region freed", "region drop",     "region dropped",  "page fetch",     "page data",
    "flush",        "flushed",         "owner request",   "owner reply",    "subscription end",
    "page push",    "count wake",      "sc request",      "sc recall",      "sc yielded",
    "sc grant",     "expire",          "expired",         "atomic request", "atomic reply",
    "lock insert",  "lock inserted",   "offer request",   "offer reply",    "sc returned",
    "lock try",     "lock try on",     "lock tried",      "lock busy",      "lock manager request",
    "lock manager", "adopt request",   "adopt reply",     "sc ready",       "notice request",
    "notice reply", "announce",        "announce answer", "announce end"};
static_assert(std::size(kMarks) == static_cast<std::size_t>(Mark::kCount));
static_assert(std::size(kMutants) == static_cast<std::size_t>(Mutant::kCount));
static_assert(std::size(kFaults) == static_cast<std::size_t>(Fault::kMissedRace) + 1);
static_assert(std::size(kEvents) == std::variant_size_v<protocol::Event>);
static_assert(std::size(kAtomics) ==
              static_cast<std::size_t>(protocol::AtomicKind::kCompareSwap) + 1);
static_assert(std::size(kOps) == static_cast<std::size_t>(OpKind::kFenceAwait) + 1);
static_assert(std::size(kMessages) == static_cast<std::size_t>(wire::Kind::kAnnounceEnd) + 1);

template <std::size_t size>
bool has(const std::string_view (&names)[size], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

template <std::size_t... at>
static bool is_kind_of_step(std::string_view name, std::index_sequence<at...>) {
  return ((std::variant_alternative_t<at, protocol::Step>::kName == name) || ...);
}

bool is_step_name(std::string_view name) {
  return is_kind_of_step(name, std::make_index_sequence<std::variant_size_v<protocol::Step>>());
}

bool is_trace_word(std::string_view name) {
  static constexpr std::string_view kOthers[] = {"messages", "faults", "load", "store"};
  return is_step_name(name) || has(kMessages, name) || has(kEvents, name) || has(kOthers, name);
}

bool is_fault_name(std::string_view name) { return has(kFaults, name); }

std::string_view name_of(Mark mark) { return kMarks[static_cast<std::size_t>(mark)]; }
std::string_view name_of(Mutant mutant) { return kMutants[static_cast<std::size_t>(mutant)]; }
std::string_view name_of(Fault fault) { return kFaults[static_cast<std::size_t>(fault)]; }

std::optional<Mutant> mutant_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMutants); ++i)
    if (kMutants[i] == name) return static_cast<Mutant>(i);
  return std::nullopt;
}

std::string name_of(const Program& program, std::size_t region) {
  const std::string& name = program.regions[region].name;
  return name.empty() ? fmt::format("r{}", region) : name;
}

std::uint64_t value_of(const Op& op) {
  std::uint32_t size = op.kind == OpKind::kAtomic ? op.size & 15 : op.size;
  return size == 8 ? op.value : op.value & ((1ull << (8 * size)) - 1);
}

std::string describe(const Program& program, const Op& op) {
  std::string_view name = kOps[static_cast<std::size_t>(op.kind)];
  auto region = [&] { return name_of(program, op.region); };
  auto place = [&](std::uint32_t size) {
    std::uint32_t unit = program.setup.block_bytes;
    return fmt::format("{}[{}]+{} ({} byte{})", region(), op.at / unit, op.at % unit, size,
                       size == 1 ? "" : "s");
  };
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kFinalLoad:
      return fmt::format("{} {}", name, place(op.size));
    case OpKind::kDoomedStore:
    case OpKind::kStore:
      return fmt::format("{} {} = {:#x}", name, place(op.size), value_of(op));
    case OpKind::kAtomic:
      return fmt::format("atomic {} {} = {:#x}", kAtomics[op.size >> 4], place(op.size & 15),
                         value_of(op));
    case OpKind::kEvict:
      if (op.value == 2) return fmt::format("{} what is not needed", name);
      return fmt::format("{} {}[{}..{}]{}", name, region(), op.at, op.at + op.size - 1,
                         op.value ? " and memory" : "");
    case OpKind::kAllocate:
      return fmt::format("{} {}{}", name, region(), op.value ? " (collective)" : "");
    case OpKind::kFree:
    case OpKind::kFreeAgain:
      return fmt::format("{} {}", name, region());
    case OpKind::kNowhere:
    case OpKind::kFence:
      return std::string(name);
    case OpKind::kPromote:
    case OpKind::kFlagStore:
    case OpKind::kFlagAwait:
    case OpKind::kFlagSwap:
    case OpKind::kFlagYields:
    case OpKind::kFenceAwait:
      return fmt::format("{} {} {:#x}", name, place(op.size), op.value);
    default:
      return fmt::format("{} {}", name, op.at);
  }
}

std::string_view name_of(const protocol::Event& event) { return kEvents[event.index()]; }

std::string_view name_of_message(protocol::Bytes message) {
  auto kind = message.empty() ? std::size(kMessages) : static_cast<std::size_t>(message[0]);
  return kind < std::size(kMessages) ? kMessages[kind] : "unknown message";
}

}  // namespace terrane::sim
