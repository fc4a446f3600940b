#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrane::fuzz {

using Input = std::vector<std::byte>;

// What a target's source defines. A target feeds any bytes to a parser and ends the process
// (TERRANE_CHECK, a sanitizer) where the parser breaks a guarantee.
void run_one(std::span<const std::byte> input);
// Inputs that the parser takes, to begin from; the same at every call.
std::vector<Input> seeds();

}  // namespace terrane::fuzz
