// Which instructions of x86-64 a thread may repeat for ever without getting anywhere. Of all that
// store, those are left out whose result depends on what was in memory before: what the others
// store is the same in each round. (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2, appendix A: opcode maps.)
#include <cstdint>

#include "platform/loop_probe.h"

namespace terrane::platform {
namespace {

bool is_prefix(std::uint8_t byte) {
  bool is_segment = byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e;
  bool is_size = byte == 0x66 || byte == 0x67 || byte == 0x64 || byte == 0x65;
  bool is_wide = (byte & 0xf0) == 0x40;  // REX
  return is_segment || is_size || is_wide || byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

// The byte behind an opcode: whether its operand is in memory, and the rest of the opcode.
bool is_in_memory(std::uint8_t operand) { return operand < 0xc0; }
unsigned extension(std::uint8_t operand) { return operand >> 3 & 7; }

// Opcodes of one byte that read their operand in memory, change and store it.
bool updates_operand(std::uint8_t opcode, std::uint8_t operand) {
  constexpr std::uint8_t kArithmetic = 0x38;  // from here on it compares
  if (opcode < kArithmetic && (opcode & 6) == 0) return true;
  if (opcode >= 0x80 && opcode <= 0x83) return extension(operand) != 7;
  if (opcode >= 0xfe) return extension(operand) < 2;
  if (opcode == 0xf6 || opcode == 0xf7) return extension(operand) == 2 || extension(operand) == 3;
  bool shifts = opcode == 0xc0 || opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xd3);
  return shifts || opcode == 0x86 || opcode == 0x87;
}

// Those behind 0f.
bool updates_operand_behind_0f(std::uint8_t opcode, std::uint8_t operand) {
  switch (opcode) {
    case 0xa4:
    case 0xa5:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xb0:
    case 0xb1:
    case 0xb3:
    case 0xbb:
    case 0xc0:
    case 0xc1:
    case 0xc7:
      return true;
    case 0xba:
      return extension(operand) > 4;
    default:
      return false;
  }
}

// From memory to memory, or to the kernel, a debugger or another ring.
bool is_special(std::uint8_t opcode) {
  bool moves = opcode == 0xa4 || opcode == 0xa5;
  bool asks = opcode >= 0x6c && opcode <= 0x6f;
  bool interrupts = opcode >= 0xcc && opcode <= 0xcf;
  return moves || asks || interrupts || opcode == 0x9d || opcode == 0xf1 || opcode == 0xf4;
}

const std::uint8_t* behind_prefixes(const std::uint8_t* code) {
  constexpr int kMostPrefixes = 12;
  for (int i = 0; i < kMostPrefixes && is_prefix(*code); ++i) ++code;
  return code;
}

}  // namespace

bool may_go_on(const std::uint8_t* code) {
  code = behind_prefixes(code);
  if (*code != 0x0f)
    return !is_special(code[0]) && !(is_in_memory(code[1]) && updates_operand(code[0], code[1]));
  bool asks_kernel = code[1] == 0x05 || code[1] == 0x34;
  return !asks_kernel && !(is_in_memory(code[2]) && updates_operand_behind_0f(code[1], code[2]));
}

StepKind step_kind(const std::uint8_t* code) {
  code = behind_prefixes(code);
  if (code[0] == 0x0f)
    return code[1] == 0x05   ? StepKind::kCallsKernel
           : code[1] == 0x34 ? StepKind::kTraps
                             : StepKind::kOther;
  if (code[0] == 0x9c) return StepKind::kPushesFlags;
  if (code[0] == 0x9d) return StepKind::kPopsFlags;
  bool traps = (code[0] >= 0xcc && code[0] <= 0xcf) || code[0] == 0xf1 || code[0] == 0xf4;
  return traps ? StepKind::kTraps : StepKind::kOther;
}

}  // namespace terrane::platform
