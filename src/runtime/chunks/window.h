#pragma once

#include <cstdint>

namespace terrane::runtime::chunks {

// How many versions of so many bytes may be under way to a subscriber, so that a way with this
// bandwidth (bytes a second) and delay there and back is never empty; at least two. Not so many
// that their buffers take more than a quarter of the budget, if two do not.
std::uint32_t window_for(std::uint64_t bytes, std::uint64_t bandwidth, std::uint64_t delay_ns,
                         std::uint64_t budget_bytes);

}  // namespace terrane::runtime::chunks
