#include <iterator>

#include "sim/names.h"

// The names of the protocol sc (names.h).
namespace terrane::sim {
namespace {

namespace sc = protocol::sc;

// In the order of the enumerations.
constexpr std::string_view kMarks[] = {"FaultFindsPagePresent",
                                       "FaultOutsideRegions",
                                       "FaultGivesUp",
                                       "FaultAsks",
                                       "FaultJoinsRequest",
                                       "FaultGrantedTooLittle",
                                       "InstallAtHome",
                                       "InstallCopies",
                                       "InstallCarried",
                                       "InstallUpgrade",
                                       "YieldWritten",
                                       "YieldWrittenByMessage",
                                       "YieldCopy",
                                       "YieldNothing",
                                       "YieldKeepsCopy",
                                       "YieldFindsPageBusy",
                                       "RecallWaitsForInstall",
                                       "RequestQueued",
                                       "GrantFromQueue",
                                       "GrantToRead",
                                       "GrantToWrite",
                                       "GrantUpgrade",
                                       "GrantAfterBroadcast",
                                       "ReadersBeyondCount",
                                       "DropForgetsHolders",
                                       "GiveBackCopy",
                                       "GiveBackWritten",
                                       "GiveBackIdle",
                                       "GiveBackFindsBusy",
                                       "GiveBackFindsAsked",
                                       "GiveBackFindsNoCopy",
                                       "GiveBackFindsHomeFull",
                                       "ReturnByReader",
                                       "ReturnByWriter",
                                       "ReturnCrossesRecall",
                                       "FaultMakesRoom"};
constexpr std::string_view kMutants[] = {"None",
                                         "GrantEarly",
                                         "ReadKeepsWriter",
                                         "ForgetReader",
                                         "UpgradeAsAsked",
                                         "InstallAnyTime",
                                         "ForgetRecall",
                                         "MapBeforeCopy",
                                         "YieldBeforeZap",
                                         "YieldUnlocked",
                                         "YieldKeepsState",
                                         "CopyBeforeZap",
                                         "CopyBeforeProtect",
                                         "KeepUnprotected",
                                         "YieldWithoutBytes",
                                         "BytesAfterGrant",
                                         "GiveBackAsked",
                                         "GiveBackHome",
                                         "GiveBackUnlocked",
                                         "PunchBeforeCopy",
                                         "ForgetReturn",
                                         "ReturnAnswers",
                                         "DropOnce"};
static_assert(std::size(kMarks) == static_cast<std::size_t>(sc::Mark::kCount));
static_assert(std::size(kMutants) == static_cast<std::size_t>(sc::Mutant::kCount));

}  // namespace

std::string_view name_of(sc::Mark mark) { return kMarks[static_cast<std::size_t>(mark)]; }
std::string_view name_of(sc::Mutant mutant) { return kMutants[static_cast<std::size_t>(mutant)]; }

std::optional<sc::Mutant> sc_mutant_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kMutants); ++i)
    if (kMutants[i] == name) return static_cast<sc::Mutant>(i);
  return std::nullopt;
}

}  // namespace terrane::sim
