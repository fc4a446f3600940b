#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "patch/elf_code.h"
#include "patch/locked_instruction.h"

// Ordinary instructions of a program that read or write memory, each with a trap in front of it
// while somebody wants to know what it does.
namespace terrane::patch {

// instruction.word_bytes is the size of the operand.
struct MemoryAccess {
  LockedInstruction instruction;
  bool is_read = false, is_written = false;
};

// Those of a function that begins with `code`, at `address`, as far as it can be decoded from its
// first byte to its last; otherwise none. Left out is what would not be seen exactly: string
// instructions, gathers, masked and conditional ones, pushes, calls; what is ordered by itself
// (locked instructions); a thread's own variables (by %fs or %gs); and the function's own frame, by
// the stack pointer or the frame pointer and a number.
std::vector<MemoryAccess> find_accesses(std::span<const std::uint8_t> code, std::uint64_t address);

// One that a trap can stand in front of. Stays as long as the process.
struct AccessSite {
  std::uintptr_t at = 0;
  std::uintptr_t trampoline = 0;
  std::uint8_t bytes = 0;
  std::uint8_t first_byte = 0;  // of the instruction, where the trap is
  bool is_read = false, is_written = false;
  std::uint32_t number = 0;  // among all sites
};

// Called in front of an instruction, in its thread and on its stack, with the address of its
// operand. It may use general registers alone, and what it calls must, too.
using NoteAccess = void (*)(std::uintptr_t address, std::uint64_t site);

// Before the first call of watch_accesses().
void set_access_note(NoteAccess note);

// Puts traps in front of all accesses of a file that the loader has mapped, having added `bias` to
// its addresses. Its code stays writable. No thread may run that code meanwhile; one thread at a
// time. A file of which nothing can be decoded has none. An error: nothing was changed.
base::Result<> watch_accesses(const ElfCode& file, std::uint64_t bias, const std::string& name);

// All of them, by number. What it refers to is never changed or freed, apart from what is added.
std::span<const AccessSite> access_sites();
// Takes the trap away, or puts it back. Any thread at any time, also while the code runs.
void disarm(const AccessSite& site);
void arm(const AccessSite& site);

// The site at this address; nullptr: there is none. In signal handlers, any thread.
const AccessSite* access_site_at(std::uintptr_t at);

}  // namespace terrane::patch
