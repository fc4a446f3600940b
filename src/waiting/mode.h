#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace terrane::waiting {

// How every wait of the process proceeds (TERRANE_WAIT). kAdaptive: polls for a while, then sleeps.
// kSpin: never sleeps. kSleep: sleeps at once.
enum class Mode : std::uint8_t { kAdaptive, kSpin, kSleep };

// Called at start; kAdaptive before. Any thread may call.
void choose_mode(Mode mode);
// The mode named "auto", "spin" or "sleep"; nullopt for another name.
std::optional<Mode> mode_named(std::string_view name);

}  // namespace terrane::waiting
