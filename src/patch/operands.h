#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrane::patch {

// A piece of memory that an instruction reads or writes.
struct Operand {
  std::uintptr_t address;
  std::size_t bytes;
  bool is_read, is_written;
};

// What the instruction at `at`, which is code of this process, reads from memory and writes there
// when the general registers are these (of a ucontext_t, up to REG_RIP). Nothing where it cannot be
// decoded.
std::vector<Operand> operands_of(std::uintptr_t at, const greg_t* registers);

}  // namespace terrane::patch
