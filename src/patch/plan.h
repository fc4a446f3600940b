#pragma once

#include <cstdint>
#include <vector>

#include "patch/elf_code.h"
#include "patch/locked_instruction.h"

namespace terrane::patch {

// The lengths of the two forms of a jump.
inline constexpr std::uint64_t kJumpBytes = 5, kHopBytes = 2;

// What a locked instruction is replaced by.
enum class Way : std::uint8_t {
  kJump,  // five bytes: a jump to its trampoline
  kHop,   // two bytes: a jump to bytes nearby that nobody runs, where a jump of five bytes is
  kTrap,  // one byte: the handler of SIGTRAP goes on at its trampoline
};

struct Site {
  LockedInstruction instruction;
  Way way = Way::kTrap;
  std::uint64_t hop = 0;  // where a hop leads
};

// What is to be done with a file's code. Addresses are those of the file.
struct Plan {
  std::vector<Site> sites;  // in order
  // Where a locked instruction may be, in code that could not be decoded with certainty.
  std::vector<std::uint64_t> doubts;

  std::size_t count(Way way) const;
};

// Finds all locked instructions, and fences if they are asked for, and how each can be replaced.
// Every function is decoded from its first byte on. A replacement covers no byte but those of its
// own instruction, and of padding behind a function's end; no jump or call of the file leads into
// the middle of it. without_jumps: all are traps.
Plan make_plan(const ElfCode& file, bool without_jumps, Fences fences = Fences::kLeave);

// Finds jumps and calls to addresses that are wanted.
class TargetFinder {
 public:
  explicit TargetFinder(const std::vector<std::uint64_t>& wanted);  // in order

  // Of the addresses: those that four bytes of `code` behind an opcode, wherever that begins, give
  // as the target of a jump or a call of 32 bits. More than there are, never fewer.
  std::vector<std::uint64_t> find(std::span<const std::uint8_t> code, std::uint64_t address) const;

 private:
  std::uint64_t first_ = 0;
  std::vector<bool> is_wanted_;  // by address, from the first one on
};

}  // namespace terrane::patch
