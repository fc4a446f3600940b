#include "patch/operands.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace terrane::patch {
namespace {

constexpr std::size_t kMostBytes = ZYDIS_MAX_INSTRUCTION_LENGTH;
constexpr std::uintptr_t kCodePage = 4096;

constexpr std::pair<ZydisRegister, int> kRegisters[] = {
    {ZYDIS_REGISTER_RAX, REG_RAX}, {ZYDIS_REGISTER_RBX, REG_RBX}, {ZYDIS_REGISTER_RCX, REG_RCX},
    {ZYDIS_REGISTER_RDX, REG_RDX}, {ZYDIS_REGISTER_RSI, REG_RSI}, {ZYDIS_REGISTER_RDI, REG_RDI},
    {ZYDIS_REGISTER_RBP, REG_RBP}, {ZYDIS_REGISTER_RSP, REG_RSP}, {ZYDIS_REGISTER_R8, REG_R8},
    {ZYDIS_REGISTER_R9, REG_R9},   {ZYDIS_REGISTER_R10, REG_R10}, {ZYDIS_REGISTER_R11, REG_R11},
    {ZYDIS_REGISTER_R12, REG_R12}, {ZYDIS_REGISTER_R13, REG_R13}, {ZYDIS_REGISTER_R14, REG_R14},
    {ZYDIS_REGISTER_R15, REG_R15}};

ZydisRegisterContext context_of(const greg_t* registers) {
  ZydisRegisterContext context{};
  for (auto [name, at] : kRegisters)
    context.values[name] = static_cast<std::uint64_t>(registers[at]);
  return context;
}

}  // namespace

std::vector<Operand> operands_of(std::uintptr_t at, const greg_t* registers) {
  std::vector<Operand> found;
  std::uint8_t code[kMostBytes] = {};
  std::memcpy(code, reinterpret_cast<const void*>(at),
              std::min<std::size_t>(kMostBytes, kCodePage - at % kCodePage));
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction one;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, sizeof code, &one, operands)))
    return found;
  ZydisRegisterContext context = context_of(registers);
  for (std::size_t i = 0; i < one.operand_count; ++i) {
    const ZydisDecodedOperand& operand = operands[i];
    bool is_shared =
        operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
        operand.mem.segment != ZYDIS_REGISTER_FS && operand.mem.segment != ZYDIS_REGISTER_GS;
    ZyanU64 address = 0;
    if (!is_shared ||
        !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&one, &operand, at, &context, &address)))
      continue;
    found.push_back({static_cast<std::uintptr_t>(address), operand.size / std::size_t{8},
                     (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
                     (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0});
  }
  return found;
}

}  // namespace terrane::patch
