#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace terrane::runtime {

// A variable or allocation of the program, and a byte of it.
struct NamedVariable {
  std::string name;  // empty: it is not known
  std::uint64_t offset = 0;
};

// How a front-end names places of its program. Called by the thread that leaves the job, on its own
// stack; shared memory is out of reach then. variable() of a lock, and what says so, is also called
// while the program runs.
struct ProgramNames {
  // What holds the byte at the address.
  std::function<NamedVariable(std::uintptr_t address)> variable;
  // The variables that have bytes in a page, which begins there, in a few words; empty: none. Also
  // called while the program runs, by a thread of the runtime.
  std::function<std::string(std::uintptr_t page, std::size_t bytes)> variables;
  // Where an instruction comes from, such as "file.c:12".
  std::function<std::string(std::uintptr_t code)> place;
  // Whether an ordinary load or store there is an atomic one, as far as that is known.
  std::function<bool(std::uintptr_t code)> is_atomic;
  // An allocation, by the name that the front-end gave it.
  std::function<std::string(const std::string& name)> allocation;
};

}  // namespace terrane::runtime
