#pragma once

#include <cstdint>

namespace terrane::runtime::chunks {

// How many versions of `bytes` may be under way to a subscriber, so that a connection with this
// bandwidth (bytes a second) and round-trip delay is never idle: at least two. Their buffers take
// at most a quarter of the budget, unless two take more.
std::uint32_t window_for(std::uint64_t bytes, std::uint64_t bandwidth, std::uint64_t delay_ns,
                         std::uint64_t budget_bytes);

}  // namespace terrane::runtime::chunks
