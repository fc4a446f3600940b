#include "protocol/chunks/meeting.h"

#include <algorithm>

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

Arrival arrive(MeetingWords& words, std::uint64_t parties) {
  if (words.parties == 0) words.parties = parties;
  if (words.parties != parties) return {false, 0};
  std::uint64_t target = (words.count / parties + 1) * parties;
  if (mutant(Mutant::kBarrierLeavesEarly)) target = words.count + 1;
  ++words.count;
  return {true, target};
}

std::uint64_t give_signal(MeetingWords& words) {
  if (mutant(Mutant::kSignalFromNothing)) words = {};
  return ++words.count;
}

MeetingCount::Next MeetingCount::next(std::uint64_t target) {
  if (seen_ >= target) return Next::kDone;
  if (taking_) {
    mark(Mark::kMeetingWaitsForTaker);
    return Next::kWait;
  }
  mark(Mark::kMeetingTakes);
  taking_ = true;
  return Next::kTake;
}

// The version may be older than a count that a thread of this node has written.
bool MeetingCount::took(const MeetingWords* words) {
  taking_ = mutant(Mutant::kTakerForEver);
  if (words != nullptr) {
    if (words->count < seen_) mark(Mark::kMeetingTakesOld);
    seen_ = std::max(seen_, words->count);
  }
  return !mutant(Mutant::kTakerTellsNobody);
}

bool MeetingCount::learn(std::uint64_t count) {
  seen_ = std::max(seen_, count);
  return true;
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
