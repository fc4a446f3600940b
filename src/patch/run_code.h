#pragma once

#include <array>
#include <cstdint>

// For tests: runs a piece of code with all registers and flags given, and takes them afterwards.
namespace terrane::patch {

struct Registers {
  std::array<std::uint64_t, 16> general{};  // by number; 4 is the stack pointer
  std::uint64_t flags = 0;
  alignas(16) std::array<std::uint64_t, 32> vector{};  // xmm0 to xmm15

  bool operator==(const Registers&) const = default;
};

// The code ends with a jump to *exit_of_code(). One thread at a time.
void run_code(const void* code, Registers& registers);
std::uint64_t exit_of_code();

}  // namespace terrane::patch
