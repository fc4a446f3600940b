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
  kNodesDisagree,  // at the end
  kTwoHolders,     // a lock held twice
  kBarrierLeak,    // a thread left a barrier before all had come
  kDeadlock,       // nothing can happen, and threads are not done
  kEndless,        // too many steps
  kInvariant,      // the protocol's own check, or one across nodes
  kMalformed,      // a message was refused
  kBadAnswer,      // an operation answered what it must not
  kBadStep,        // a step that a real machine would refuse
  kWrongMessage,   // a message that was not sent, or not now
  kFalseLoss,      // a peer is taken for lost though a path leads there
  kTooMuchHeld,    // at a gateway
};

// Why a history failed. Thrown at the point where it shows, caught by violation_of.
struct Violation {
  Fault fault = Fault::kNone;
  std::string text;
};

// The rule that such a fault breaks, as a statement without a full stop.
std::string_view rule_of(Fault fault);
// In one sentence: the fault, what was found where, and the rule. Empty for Fault::kNone.
std::string reason_of(const Violation& violation);

template <typename... Args>
[[noreturn]] void violated(Fault fault, fmt::format_string<Args...> format, Args&&... args) {
  throw Violation{fault, fmt::format(format, std::forward<Args>(args)...)};
}

// How `history()`, which runs one, failed: by a violation, or by an invariant of the protocol's
// own.
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
