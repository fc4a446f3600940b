#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "patch/locked_instruction.h"

namespace terrane::patch {

// Where trampolines find the entries that they call (entries.h), as addresses of pointers.
struct EntryPointers {
  std::uint64_t check = 0, check_flags = 0, enter = 0;
  std::uint64_t change = 0;  // 0: no instruction is done elsewhere
};

// The code of the trampoline of `one`, to lie at the address `at`. It finds the operand's address,
// calls check, calls enter if check says so, and does the instruction by itself. Where `change` is
// given and the instruction's effect is known (Change), it calls `change` before enter, and leaves
// out both enter and the instruction if `change` has changed the word. It goes on behind the
// instruction, with all registers and flags as the instruction leaves them, and touches nothing
// below the stack pointer that the program may use there. The trampoline of a fence calls enter
// always, with 0 bytes. Nothing: a place that it must reach is more than 2 GiB away.
std::optional<std::vector<std::uint8_t>> make_trampoline(const LockedInstruction& one,
                                                         std::uint64_t at,
                                                         const EntryPointers& pointers);

// The code of the trampoline of an access (accesses.h), to lie at the address `at`. It finds the
// operand's address, calls the entry to which `note` points with that and the site's number, does
// the instruction, and goes on behind it, with all registers and flags as the instruction leaves
// them.
std::optional<std::vector<std::uint8_t>> make_access_trampoline(const LockedInstruction& one,
                                                                std::uint64_t at,
                                                                std::uint32_t site,
                                                                std::uint64_t note);

// A jump of five bytes from `from` to `to`; nothing: it is too far.
std::optional<std::array<std::uint8_t, 5>> make_jump(std::uint64_t from, std::uint64_t to);

}  // namespace terrane::patch
