#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace terrane::runtime::waiting {

// How every wait of the process goes on (TERRANE_WAIT). kAdaptive: it polls for a while, then
// sleeps. kSpin: it never sleeps. kSleep: it sleeps at once.
enum class Mode : std::uint8_t { kAdaptive, kSpin, kSleep };

// Set at start; kAdaptive until then. By any thread.
void choose_mode(Mode mode);
// "auto", "spin" or "sleep"; nothing for another name.
std::optional<Mode> mode_named(std::string_view name);

}  // namespace terrane::runtime::waiting
