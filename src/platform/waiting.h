#pragma once

#include <optional>
#include <string_view>

namespace terrane::platform {

// How every Backoff (platform/wait.h) of the process waits. kSpin: it never sleeps, and looks again
// and again, also where others need the processor (which it may offer to them between looks).
// kSleep: at once. kAdaptive: it looks for a while, then sleeps.
enum class Waiting { kAdaptive, kSpin, kSleep };

// Set at start; kAdaptive until then.
void choose_waiting(Waiting waiting);
// "auto", "spin" or "sleep".
std::optional<Waiting> waiting_named(std::string_view name);

}  // namespace terrane::platform
