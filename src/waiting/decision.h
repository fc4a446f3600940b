#pragma once

#include <algorithm>
#include <cstdint>

#include "waiting/constants.h"
#include "waiting/mode.h"

namespace terrane::waiting {

// What is known about programs that compete for this process's processors (Competitors).
enum class Competition : std::uint8_t {
  kNone,
  kShares,  // a competing process waits for something too, and returns the processor soon
  kKeeps,   // a competing process computes until the next tick of the kernel
};

// Whether the node's handler thread may need the processor of a waiting thread: soon, if nothing
// comes meanwhile; or now, because work was left to it.
enum class HandlerNeed : std::uint8_t { kNothing, kSoon, kNow };

// What a waiting thread does until its next look.
enum class Action : std::uint8_t { kSpin, kYield, kSleep };

// The state of a wait between two looks.
struct WaitState {
  Mode mode = Mode::kAdaptive;
  bool fits = true;  // the job's threads on this machine fit its processors
  Competition competition = Competition::kNone;
  HandlerNeed handler = HandlerNeed::kNothing;
  std::uint64_t waited_ns = 0;
  std::uint32_t looks = 0;
  std::uint64_t longest_ns = ~0ull;       // most time to poll if the threads fit
  std::uint64_t crowded_ns = kCrowdedNs;  // the same beside a competitor that keeps the processor
};

// A pure function: the table of docs/design/waiting.md.
constexpr Action decide(const WaitState& wait) {
  if (wait.mode == Mode::kSleep) return Action::kSleep;
  bool keeps = wait.competition == Competition::kKeeps;
  if (wait.mode == Mode::kAdaptive) {
    std::uint64_t most_ns = keeps ? wait.crowded_ns : kAloneNs;
    if (wait.fits && wait.waited_ns >= std::min(most_ns, wait.longest_ns)) return Action::kSleep;
    bool has_looked = wait.waited_ns >= kCrowdedNs && wait.looks >= kCrowdedLooks;
    if (!wait.fits && (keeps || has_looked)) return Action::kSleep;
  }
  bool for_handler = wait.handler == HandlerNeed::kNow ||
                     (wait.handler == HandlerNeed::kSoon && wait.waited_ns >= kHandlerSoonNs);
  bool for_others = !wait.fits || wait.competition == Competition::kShares;
  return for_handler || for_others ? Action::kYield : Action::kSpin;
}

}  // namespace terrane::waiting
