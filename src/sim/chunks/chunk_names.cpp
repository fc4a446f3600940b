#include "sim/chunks/chunk_names.h"

#include <fmt/format.h>

#include <iterator>

namespace terrane::sim {
namespace {

using protocol::chunks::Mark;
using protocol::chunks::Mutant;
using protocol::chunks::Status;

// In the order of the enumerations.
constexpr std::string_view kMarks[] = {"OpenHere",
                                       "OpenWaitsHere",
                                       "OpenBusyHere",
                                       "OpenAfterGrant",
                                       "OpenTimedOut",
                                       "OpenRefused",
                                       "OpenOutOfMemory",
                                       "RequestShared",
                                       "RequestExclusive",
                                       "RequestUpgrade",
                                       "RequestWhole",
                                       "RequestCancelled",
                                       "GrantExclusiveToReader",
                                       "GrantWithoutData",
                                       "GrantBlank",
                                       "BlankGivenBack",
                                       "GrantUnwanted",
                                       "RecallOwnerShare",
                                       "RecallOwnerDrop",
                                       "RecallSharers",
                                       "YieldWaitsForScope",
                                       "YieldBusy",
                                       "YieldDirty",
                                       "YieldClean",
                                       "YieldNothing",
                                       "EvictClean",
                                       "EvictDirty",
                                       "EvictedForMemory",
                                       "CancelQueued",
                                       "CancelActive",
                                       "CancelLate",
                                       "TryFindsRequest",
                                       "SnapshotTooOld",
                                       "SnapshotTwice",
                                       "RequestBoth",
                                       "RequestWaitsForReaders",
                                       "Created",
                                       "CreateFindsIt",
                                       "FindWaits",
                                       "FindFails",
                                       "Mismatch",
                                       "GrantWriter",
                                       "SubscribedLate",
                                       "SubscribeRefused",
                                       "PushPassesOver",
                                       "PushBlocks",
                                       "PushLeavesOut",
                                       "WriterCredited",
                                       "CreditReturned",
                                       "UpdateNotifies",
                                       "UpdateAwaited",
                                       "TakeFindsNothing",
                                       "VersionsMissed",
                                       "WrittenOnce",
                                       "HintFindsItSo",
                                       "HintWaitsForScope",
                                       "SubscribedEarly",
                                       "GoneWhileChanging",
                                       "HintStepsBack",
                                       "RebuiltChanging",
                                       "GrantGivenBack",
                                       "HintToPushed",
                                       "HintFromPushed",
                                       "HintAmongPushed",
                                       "MessageWaitsForView",
                                       "MessageOfTheDead",
                                       "DeadOwner",
                                       "DeadSharer",
                                       "DeadAwaited",
                                       "DeadServed",
                                       "DeadSubscriber",
                                       "DeadWriter",
                                       "Rebuilt",
                                       "RebuiltFromOwner",
                                       "RebuiltFromSharer",
                                       "RebuiltFromOldBytes",
                                       "RebuiltFromNothing",
                                       "RebuiltLosesPushed",
                                       "RebuiltTellsGone",
                                       "RebuiltGoneForAll",
                                       "RebuildWaitsForNobody",
                                       "RebuildDefers",
                                       "FetchNextCandidate",
                                       "RequestRepeated",
                                       "AskRepeated",
                                       "MeetingTakes",
                                       "MeetingWaitsForTaker",
                                       "MeetingTakesOld",
                                       "LeaveGivesBack",
                                       "LeaveWaits",
                                       "LeaveMeetsRebuild"};
constexpr std::string_view kMutants[] = {"None",
                                         "GrantAmongReaders",
                                         "YieldOpenWrite",
                                         "YieldOpenRead",
                                         "YieldKeepsCopy",
                                         "YieldWithoutData",
                                         "EvictWithoutData",
                                         "EvictOpenCopy",
                                         "UpgradeAsAsked",
                                         "GrantEarly",
                                         "ReadKeepsOwner",
                                         "VersionStays",
                                         "BlankRead",
                                         "RefusalForgotten",
                                         "CancelAnswersTwice",
                                         "WritersTogether",
                                         "PublishWithoutCredit",
                                         "PushWithoutCredit",
                                         "ForgetLastVersion",
                                         "BlockLeavesOut",
                                         "ForgetUnsent",
                                         "CreditLost",
                                         "CreditTwice",
                                         "PartPassedOver",
                                         "MissedUncounted",
                                         "WriteTwice",
                                         "HintUnasked",
                                         "HintOpenScope",
                                         "GoneOverUnnoticed",
                                         "DeadStillAwaited",
                                         "DeadStillOwner",
                                         "LossUntold",
                                         "GoneUntold",
                                         "AnswerBeforeReports",
                                         "RestoreOldest",
                                         "OwnerForgotten",
                                         "RequestNotRepeated",
                                         "DropBeforeServing",
                                         "FreeWhileRead",
                                         "TryWaitsBehind",
                                         "ReaderWaitsBehind",
                                         "ReaderWaitsAlong",
                                         "PlacesUncounted",
                                         "BarrierLeavesEarly",
                                         "SignalFromNothing",
                                         "TakerForEver",
                                         "TakerTellsNobody",
                                         "LeaveWithCopies",
                                         "LeaveUnheard",
                                         "NewcomerUnheard",
                                         "DeadStillHeard"};
constexpr std::string_view kStatuses[] = {"ok",        "existed",        "unknown",
                                          "mismatch",  "busy",           "timed out",
                                          "no memory", "not subscribed", "written"};
constexpr std::string_view kKinds[] = {
    "find",       "found",   "request",   "grant",       "refused", "cancel", "recall", "yielded",
    "evict",      "evicted", "subscribe", "unsubscribe", "publish", "update", "credit", "report",
    "report end", "serving", "hint",      "gone",        "hinted",  "leave",  "left"};
static_assert(std::size(kMarks) == static_cast<std::size_t>(Mark::kCount));
static_assert(std::size(kMutants) == static_cast<std::size_t>(Mutant::kCount));
static_assert(std::size(kStatuses) == static_cast<std::size_t>(Status::kWritten) + 1);

}  // namespace

std::string_view name_of(Mark mark) { return kMarks[static_cast<std::size_t>(mark)]; }
std::string_view name_of(Mutant mutant) { return kMutants[static_cast<std::size_t>(mutant)]; }
std::string_view name_of(Status status) { return kStatuses[static_cast<std::size_t>(status)]; }

std::optional<Mutant> chunk_mutant_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMutants); ++i)
    if (kMutants[i] == name) return static_cast<Mutant>(i);
  return std::nullopt;
}

std::string describe_chunk_message(protocol::Bytes bytes) {
  wire::ChunkMessage message;
  if (!wire::take(bytes, message)) return "a short message";
  auto kind = static_cast<std::size_t>(message.kind) - 128;
  std::string_view name = kind < std::size(kKinds) ? kKinds[kind] : "unknown";
  return fmt::format(
      "{} mode {} flags {} epoch {} chunk {:x} version {} request {} turn {} and {} bytes", name,
      message.mode, message.flags, message.epoch, message.chunk, message.version, message.request,
      message.turn, bytes.size());
}

}  // namespace terrane::sim
