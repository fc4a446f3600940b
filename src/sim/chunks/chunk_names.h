#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/chunks/chunk_effects.h"

namespace terrane::sim {

// The names as in the sources, without the k.
std::string_view name_of(protocol::chunks::Mark mark);
std::string_view name_of(protocol::chunks::Mutant mutant);
std::string_view name_of(protocol::chunks::Status status);
std::optional<protocol::chunks::Mutant> chunk_mutant_named(std::string_view name);

// For traces.
std::string describe_chunk_message(protocol::Bytes message);

}  // namespace terrane::sim
