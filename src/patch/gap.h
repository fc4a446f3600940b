#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "patch/locked_instruction.h"

namespace terrane::patch {

// Looks for locked instructions in bytes between functions that are not instructions throughout:
// code that was written by hand, without tables of unwinding, beside the tables that it reads, as
// libgcrypt and libavcodec have it. `entries`: where jumps or calls lead to, or the code before
// goes on; within `code`, which lies at `address`.
// Result: where one may be. Nothing: what the entries lead to is code without any, and so is what
// else looks like code, from a byte where code may begin to an instruction that does not go on.
// What nothing enters is a table as a whole, as libcrypto has them.
std::optional<std::uint64_t> locked_in_gap(std::span<const std::uint8_t> code,
                                           std::uint64_t address,
                                           const std::vector<std::uint64_t>& entries,
                                           Fences fences);

}  // namespace terrane::patch
