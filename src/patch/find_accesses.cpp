#include <Zydis/Zydis.h>

#include <cstring>

#include "patch/accesses.h"

namespace terrane::patch {
namespace {

bool is_size(std::size_t bytes) {
  constexpr std::size_t kMost = 64, kLongDouble = 10;
  return bytes == kLongDouble || (bytes != 0 && bytes <= kMost && (bytes & (bytes - 1)) == 0);
}

// Whether a mask in a vector register says which bytes it reads or writes.
bool has_vector_mask(ZydisMnemonic one) {
  switch (one) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ:
      return true;
    default:
      return false;
  }
}

// Whether it reads and writes all of its operand, and nothing else orders it.
bool is_plain(const ZydisDecodedInstruction& one) {
  switch (one.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
    case ZYDIS_CATEGORY_PREFETCHWT1:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_PUSH:
    case ZYDIS_CATEGORY_POP:
    case ZYDIS_CATEGORY_STRINGOP:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SEMAPHORE:
      return false;
    default:
      break;
  }
  bool is_masked = one.avx.mask.reg != ZYDIS_REGISTER_NONE && one.avx.mask.reg != ZYDIS_REGISTER_K0;
  return !is_masked && !has_vector_mask(one.mnemonic) &&
         one.avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID &&
         one.mnemonic != ZYDIS_MNEMONIC_XCHG && one.mnemonic != ZYDIS_MNEMONIC_CLFLUSH &&
         (one.attributes &
          (ZYDIS_ATTRIB_HAS_LOCK | ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS |
           ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPNE)) == 0 &&
         (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && one.address_width == 64;
}

Register number_of(ZydisRegister one) {
  if (one < ZYDIS_REGISTER_RAX || one > ZYDIS_REGISTER_R15) return kNoRegister;
  return static_cast<Register>(one - ZYDIS_REGISTER_RAX);
}

// The operand in memory that the instruction names; nullptr: none, or not one alone.
const ZydisDecodedOperand* operand_of(const ZydisDecodedInstruction& one,
                                      const ZydisDecodedOperand* operands) {
  const ZydisDecodedOperand* found = nullptr;
  for (std::size_t i = 0; i < one.operand_count; ++i) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (found != nullptr || operands[i].mem.type != ZYDIS_MEMOP_TYPE_MEM ||
        operands[i].visibility != ZYDIS_OPERAND_VISIBILITY_EXPLICIT)
      return nullptr;
    found = &operands[i];
  }
  constexpr auto kSometimes = ZYDIS_OPERAND_ACTION_CONDREAD | ZYDIS_OPERAND_ACTION_CONDWRITE;
  bool is_exact = found != nullptr && (found->actions & kSometimes) == 0 && found->actions != 0 &&
                  is_size(found->size / std::size_t{8});
  return is_exact ? found : nullptr;
}

// Whether the function keeps its frame in rbp: push %rbp; mov %rsp,%rbp, behind endbr64.
bool has_frame_pointer(std::span<const std::uint8_t> code) {
  constexpr std::uint8_t kLanding[] = {0xf3, 0x0f, 0x1e, 0xfa}, kFrame[] = {0x55, 0x48, 0x89, 0xe5};
  if (code.size() >= sizeof kLanding && std::memcmp(code.data(), kLanding, sizeof kLanding) == 0)
    code = code.subspan(sizeof kLanding);
  return code.size() >= sizeof kFrame && std::memcmp(code.data(), kFrame, sizeof kFrame) == 0;
}

// Nothing: it is of the function's own frame, or its address cannot be computed.
bool read_address(const ZydisDecodedInstruction& one, const ZydisDecodedOperand& operand,
                  bool has_frame, LockedInstruction& to) {
  const auto& memory = operand.mem;
  to.is_relative = memory.base == ZYDIS_REGISTER_RIP;
  to.displacement_at = one.raw.disp.offset;
  to.displacement = static_cast<std::int32_t>(memory.disp.value);
  if (memory.disp.value != to.displacement) return false;
  if (!to.is_relative) to.base = number_of(memory.base);
  to.index = number_of(memory.index);
  bool is_known =
      (memory.base == ZYDIS_REGISTER_NONE || to.is_relative || to.base != kNoRegister) &&
      (memory.index == ZYDIS_REGISTER_NONE || to.index != kNoRegister);
  bool is_of_frame = to.index == kNoRegister && (to.base == kRsp || (has_frame && to.base == kRbp));
  if (!is_known || is_of_frame) return false;
  to.scale = memory.scale == 8 ? 3 : memory.scale == 4 ? 2 : memory.scale == 2 ? 1 : 0;
  return true;
}

}  // namespace

std::vector<MemoryAccess> find_accesses(std::span<const std::uint8_t> code, std::uint64_t address) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  bool has_frame = has_frame_pointer(code);
  std::vector<MemoryAccess> found;
  ZydisDecodedInstruction one;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  for (std::size_t at = 0; at < code.size(); at += one.length) {
    const std::uint8_t* bytes = code.data() + at;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, code.size() - at, &one, operands)))
      return {};
    const ZydisDecodedOperand* operand = is_plain(one) ? operand_of(one, operands) : nullptr;
    if (operand == nullptr) continue;
    MemoryAccess access;
    LockedInstruction& to = access.instruction;
    if (!read_address(one, *operand, has_frame, to)) continue;
    to.address = address + at;
    to.length = one.length;
    std::memcpy(to.bytes.data(), bytes, one.length);
    to.word_bytes = static_cast<std::uint8_t>(operand->size / 8);
    access.is_read = (operand->actions & ZYDIS_OPERAND_ACTION_READ) != 0;
    access.is_written = (operand->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0;
    found.push_back(access);
  }
  return found;
}

}  // namespace terrane::patch
