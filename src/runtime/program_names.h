#pragma once

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
// stack; shared memory is out of reach then.
struct ProgramNames {
  // What holds the byte at the address.
  std::function<NamedVariable(std::uintptr_t address)> variable;
  // An allocation, by the name that the front-end gave it.
  std::function<std::string(const std::string& name)> allocation;
};

}  // namespace terrane::runtime
