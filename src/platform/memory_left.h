#pragma once

#include <cstdint>

namespace terrane::platform {

// Whether the machine could give out `bytes` more (MemAvailable and free swap of /proc/meminfo) and
// keep a little. True where that cannot be known. Async-signal-safe.
bool memory_left(std::uint64_t bytes) noexcept;

// How many bytes that is; ~0 where it cannot be known. Async-signal-safe.
std::uint64_t memory_left_bytes() noexcept;

}  // namespace terrane::platform
