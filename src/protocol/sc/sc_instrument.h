#pragma once

#include "protocol/steps/instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

// Coverage marks: branches of the protocol sc. Some random history must take each.
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

// Planted faults: each breaks one rule of docs/design/sc.md, and the simulator must find it.
enum class Mutant : std::uint8_t {
  kNone,
  kGrantEarly,         // the home grants after the first of several yields
  kReadKeepsWriter,    // a reader is served while the writer still writes
  kForgetReader,       // the home forgets readers beyond those that it can name
  kUpgradeAsAsked,     // "the requester has the bytes" is decided at the request, not at the grant
  kInstallAnyTime,     // a page is recalled between its grant and its installation
  kForgetRecall,       // a recall between grant and installation is forgotten
  kMapBeforeCopy,      // the application view gets the page before its bytes are here
  kYieldBeforeZap,     // the home gets a yield before the page has left the view
  kYieldUnlocked,      // a page is taken away without its lock, while it is installed
  kYieldKeepsState,    // a page keeps its state after a yield, and returns to the view
  kCopyBeforeZap,      // the bytes go home before the page leaves the view
  kCopyBeforeProtect,  // the bytes go home before a copy that stays is protected
  kKeepUnprotected,    // a copy that stays is not protected
  kYieldWithoutBytes,  // written bytes do not go home
  kBytesAfterGrant,    // the bytes of a yield are stored after the next grant
  kGiveBackAsked,      // a page is given back although this node has asked for it
  kGiveBackHome,       // a page is given back whose home is here, or which is in no region
  kGiveBackUnlocked,   // a page is given back without its lock, while it is installed
  kPunchBeforeCopy,    // the memory of a page is punched before its bytes are at the home
  kForgetReturn,       // the home forgets that a node has given a page back
  kReturnAnswers,      // the home takes a page given back for the answer to its recall
  kDropOnce,           // a freed region is dropped once, and pages go home after that
  kCount,
};

#ifdef TERRANE_INSTRUMENTED
using Instrumentation = InstrumentationOf<Mark, Mutant>;
// One for each thread: a simulation runs on one thread.
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
