#pragma once

#include <cstdint>

#include "patch/locked_instruction.h"

namespace terrane::patch {

struct WordChange {
  Change kind = Change::kOther;
  std::uint8_t bytes = 0;  // of the word: 1, 2, 4, 8
  std::uint64_t operand = 0, expected = 0;
};

// What is asked of whoever owns shared memory. All are called in the thread that performs the
// operation, on its stack, with errno as the program left it, which they keep.
struct Service {
  // Whether enter is to be called for a word at this address. It may use general registers alone,
  // and what it calls must, too: vector registers hold the program's numbers.
  bool (*is_served)(std::uintptr_t address) = nullptr;
  // Before the instruction changes a word of so many bytes; 0 bytes: before a fence.
  void (*enter)(std::uintptr_t address, std::uint64_t bytes) = nullptr;
  // Changes a word in place of the instruction, and says what it was; false: not this time, so
  // enter is called and the instruction changes it. nullptr: never. kCompareSwap stores the operand
  // if the word is `expected`.
  bool (*change)(std::uintptr_t address, const WordChange& change, std::uint64_t& before) = nullptr;
};

// Before anything is patched; again only while no patched code runs.
void set_service(const Service& service);

// What a trampoline gives the entry `change`: the instruction once more, on a word of the thread's
// own memory, and a return.
struct StandIn {
  Change kind = Change::kOther;
  std::uint8_t word_bytes = 0;
  std::uint8_t code[30] = {};
};
// Where that word lies, as far from the thread's base (%fs) as in every thread of the process.
std::int32_t stand_in_word();

// Code that trampolines call (emit.h), by its address.
std::uintptr_t check_entry();
std::uintptr_t check_flags_entry();
std::uintptr_t enter_entry();
std::uintptr_t change_entry();
std::uintptr_t note_entry();

}  // namespace terrane::patch
