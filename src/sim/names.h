#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/sc/sc_instrument.h"
#include "protocol/steps/atomic.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/instrument.h"
#include "protocol/steps/step_kinds.h"
#include "sim/program.h"
#include "sim/violation.h"

namespace terrane::sim {

// The names as in the sources, without the k.
std::string_view name_of(protocol::Mark mark);
std::string_view name_of(protocol::Mutant mutant);
std::string_view name_of(Fault fault);
std::optional<protocol::Mutant> mutant_named(std::string_view name);
bool is_fault_name(std::string_view name);
bool is_step_name(std::string_view name);
// Whether `name` selects lines of a trace: it is a step, a message or an event, or one of
// "messages", "faults", "load", "store".
bool is_trace_word(std::string_view name);
// The same for the protocol sc.
std::string_view name_of(protocol::sc::Mark mark);
std::string_view name_of(protocol::sc::Mutant mutant);
std::optional<protocol::sc::Mutant> sc_mutant_named(std::string_view name);

// The operation as text for traces.
std::string describe(const Program& program, const Op& op);
// The value that an operation stores, cut to its size.
std::uint64_t value_of(const Op& op);
std::string_view name_of(const protocol::Event& event);
std::string_view name_of_message(protocol::Bytes message);

}  // namespace terrane::sim
