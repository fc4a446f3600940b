#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace terrane::tools {

// A function with locked instructions (lock xadd, xchg with memory, ...), which change a word of
// memory as one step only among the threads of one node.
struct LockedFunction {
  std::string name;
  std::string first;  // its first locked instruction, as the disassembler writes it
  std::string address;
  std::uint32_t count = 0;
};

// Which memory is shared: what the program allocates as such, or all of its own (`terrane
// threads`).
enum class SharedScope : std::uint8_t { kRegions, kProgram };

// Reads a listing of `objdump -d` for x86-64, line by line, and keeps the functions with locked
// instructions that may work on shared memory. Not those that work on a thread's own variables (by
// %fs or %gs), nor the compiler's fence; where regions alone are shared, not those on the stack or
// on the program's own variables (by %rip) either.
class LockedCode {
 public:
  explicit LockedCode(SharedScope scope = SharedScope::kRegions) : scope_(scope) {}
  void add_line(std::string_view line);
  const std::vector<LockedFunction>& functions() const { return functions_; }

 private:
  void add_instruction(std::string_view address, std::string_view instruction);
  bool is_private(std::string_view operands) const;

  SharedScope scope_;
  std::string function_ = "?";
  bool has_frame_pointer_ = false;  // of the function: %rbp is an address on the stack
  bool is_new_ = true;              // nothing was found in it yet
  std::vector<LockedFunction> functions_;
};

}  // namespace terrane::tools
