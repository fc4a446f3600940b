#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

// Every branch of the protocol sc that some seed must take.
enum class Mark : std::uint8_t {
  kFaultFindsPagePresent,
  kFaultOutsideRegions,
  kFaultGivesUp,
  kFaultAsks,
  kFaultJoinsRequest,
  kFaultGrantedTooLittle,
  kInstallAtHome,
  kInstallCopies,
  kInstallCarried,
  kInstallUpgrade,
  kYieldWritten,
  kYieldWrittenByMessage,
  kYieldCopy,
  kYieldNothing,
  kYieldKeepsCopy,
  kYieldFindsPageBusy,
  kRecallWaitsForInstall,
  kRequestQueued,
  kGrantFromQueue,
  kGrantToRead,
  kGrantToWrite,
  kGrantUpgrade,
  kGrantAfterBroadcast,
  kReadersBeyondCount,
  kDropForgetsHolders,
  kGiveBackCopy,
  kGiveBackWritten,
  kGiveBackIdle,
  kGiveBackFindsBusy,
  kGiveBackFindsAsked,
  kGiveBackFindsNoCopy,
  kGiveBackFindsHomeFull,
  kReturnByReader,
  kReturnByWriter,
  kReturnCrossesRecall,
  kFaultMakesRoom,
  kCount,
};

// Planted faults: each breaks one rule of docs/design/sc.md, and the simulator must catch it.
enum class Mutant : std::uint8_t {
  kNone,
  kGrantEarly,         // the first of several yields is taken for the last
  kReadKeepsWriter,    // a reader is served while the writer goes on writing
  kForgetReader,       // readers beyond what the home can name are forgotten
  kUpgradeAsAsked,     // "has the bytes" is judged when asked, not when granted
  kInstallAnyTime,     // a page is recalled between its grant and its installation
  kForgetRecall,       // ... and the recall that came meanwhile is forgotten
  kMapBeforeCopy,      // the application sees the page before its bytes are here
  kYieldBeforeZap,     // the home hears of a yield before the page has left the view
  kYieldUnlocked,      // a page is taken away while it is installed
  kYieldKeepsState,    // what was taken away is shown again
  kCopyBeforeZap,      // the bytes go home before the page leaves the view
  kCopyBeforeProtect,  // ... before it is protected, where a copy stays
  kKeepUnprotected,    // a copy that stays may still be written
  kYieldWithoutBytes,  // what was written does not go home
  kBytesAfterGrant,    // bytes that come with a yield are stored after the next is granted
  kGiveBackAsked,      // a page is given back that this node has asked for
  kGiveBackHome,       // ... whose home is here, or that is in no region any more
  kGiveBackUnlocked,   // ... while it is installed
  kPunchBeforeCopy,    // its memory goes before its bytes are at the home
  kForgetReturn,       // the home goes on counting who gave a page back by itself
  kReturnAnswers,      // ... takes that for the answer to its recall
  kDropOnce,           // pages of a freed region come home after the home has forgotten them
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

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
