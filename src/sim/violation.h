#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/steps/instrument.h"

namespace terrane::sim {

enum class Fault : std::uint8_t {
  kNone,
  kWrongValue,     // a load returned what the memory model forbids
  kNodesDisagree,  // nodes read different values at the end
  kTwoHolders,     // a lock held twice
  kBarrierLeak,    // a thread left a barrier before all had entered
  kDeadlock,       // nothing can happen, but threads have not ended
  kEndless,        // too many steps
  kInvariant,      // a check of the protocol itself, or one across nodes
  kMalformed,      // a message was refused
  kBadAnswer,      // an operation returned a result that it must not
  kBadStep,        // a step that a real machine would refuse
  kWrongMessage,   // a message arrived that was not sent, or out of its order
  kFalseLoss,      // a peer is reported lost though a path leads there
  kTooMuchHeld,    // a gateway holds more than a window of a pair
  kInventedRace,   // a home reports a race between changes that are ordered
  kMissedRace,     // a home does not report one
};

// Why a history failed. Thrown where it is found, caught by violation_of.
struct Violation {
  Fault fault = Fault::kNone;
  std::string text;
};

// The rule that the fault breaks, as a statement without a full stop.
std::string_view rule_of(Fault fault);
// The fault, what was found where, and the rule, in one sentence. Empty for Fault::kNone.
std::string reason_of(const Violation& violation);

template <typename... Args>
[[noreturn]] void violated(Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  throw Violation{fault, fmt::format(format, std::forward<Args>(args)...)};
}

// Calls `history()`, which runs one, and returns how it failed: by a violation, or by an invariant
// of the protocol itself. Fault kNone: it did not fail.
template <typename Function>
Violation violation_of(Function history) {
  try {
    history();
  } catch (const Violation& violation) {
    return violation;
  } catch (const protocol::BrokenInvariant& broken) {
    return {Fault::kInvariant,
            fmt::format("{} ({}, {}:{})", broken.why, broken.condition, broken.file, broken.line)};
  }
  return {};
}

}  // namespace terrane::sim
