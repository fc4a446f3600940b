#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrane::patch {

// A piece of memory that an instruction reads.
struct Operand {
  std::uintptr_t address;
  std::size_t bytes;
};

// What the instruction at `at`, which is code of this process, reads from memory when the general
// registers are these (of a ucontext_t). Nothing where it cannot be decoded.
std::vector<Operand> operands_read(std::uintptr_t at, const greg_t* registers);

}  // namespace terrane::patch
