#pragma once

#include <cstdint>

namespace terrane::patch {

// Maps `bytes` that can be read and written, within reach (2 GiB) of all of [first, last]. nullptr:
// there is no such place; errno says why.
void* map_near(std::uint64_t first, std::uint64_t last, std::uint64_t bytes);

}  // namespace terrane::patch
