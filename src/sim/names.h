#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/sc/sc_instrument.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/instrument.h"
#include "sim/program.h"
#include "sim/violation.h"

namespace terrane::sim {

// The names as the sources have them, without the k.
std::string_view name_of(protocol::Mark mark);
std::string_view name_of(protocol::Mutant mutant);
std::string_view name_of(protocol::StepKind kind);
std::string_view name_of(Fault fault);
std::optional<protocol::Mutant> mutant_named(std::string_view name);
// The same of the protocol sc.
std::string_view name_of(protocol::sc::Mark mark);
std::string_view name_of(protocol::sc::Mutant mutant);
std::optional<protocol::sc::Mutant> sc_mutant_named(std::string_view name);

// For traces.
std::string describe(const Op& op);
std::string describe(const protocol::Step& step);
std::string describe(protocol::Bytes message);

}  // namespace terrane::sim
