#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstring>

#include "patch/locked_instruction.h"

namespace terrane::patch {
namespace {

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

const ZydisDecoder& decoder() {
  static const ZydisDecoder one = make_decoder();
  return one;
}

constexpr std::uint8_t kInMemory = 3;  // mod: from here on the operand is a register

bool is_locked(const ZydisDecodedInstruction& one) {
  bool in_memory = (one.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0 && one.raw.modrm.mod != kInMemory;
  if ((one.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0) return true;
  return one.mnemonic == ZYDIS_MNEMONIC_XCHG && in_memory;
}

bool has_own_segment(const ZydisDecodedInstruction& one) {
  return (one.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS)) != 0;
}

// An operation with zero on the stack: it orders other accesses, and changes nothing.
bool is_fence(const ZydisDecodedInstruction& one, const LockedInstruction& locked) {
  bool keeps_word = one.mnemonic == ZYDIS_MNEMONIC_OR || one.mnemonic == ZYDIS_MNEMONIC_ADD ||
                    one.mnemonic == ZYDIS_MNEMONIC_SUB || one.mnemonic == ZYDIS_MNEMONIC_XOR;
  bool has_zero = one.raw.imm[0].size != 0 && one.raw.imm[0].value.u == 0;
  return keeps_word && has_zero && locked.base == kRsp;
}

bool selects_by_register(const ZydisDecodedInstruction& one) {
  bool on_bits = one.mnemonic == ZYDIS_MNEMONIC_BTS || one.mnemonic == ZYDIS_MNEMONIC_BTR ||
                 one.mnemonic == ZYDIS_MNEMONIC_BTC;
  return on_bits && one.raw.imm[0].size == 0;
}

// These write all flags that they do not leave undefined, and read none.
bool replaces_flags(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_XADD:
    case ZYDIS_MNEMONIC_CMPXCHG:
    case ZYDIS_MNEMONIC_NEG:
      return true;
    default:
      return false;
  }
}

Change change_of(const ZydisDecodedInstruction& one) {
  bool by_number = one.raw.imm[0].size != 0;
  switch (one.mnemonic) {
    case ZYDIS_MNEMONIC_XCHG:
      return Change::kStore;
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_XADD:
      return Change::kAdd;
    case ZYDIS_MNEMONIC_AND:
      return Change::kAnd;
    case ZYDIS_MNEMONIC_OR:
      return Change::kOr;
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_NOT:
      return Change::kXor;
    case ZYDIS_MNEMONIC_BTS:
      return by_number ? Change::kOr : Change::kOther;
    case ZYDIS_MNEMONIC_BTR:
      return by_number ? Change::kAnd : Change::kOther;
    case ZYDIS_MNEMONIC_BTC:
      return by_number ? Change::kXor : Change::kOther;
    case ZYDIS_MNEMONIC_CMPXCHG:
      return Change::kCompareSwap;
    default:
      return Change::kOther;
  }
}

// Whether the operand that is no memory is the stack pointer, which code elsewhere does not have.
bool uses_stack_pointer(const ZydisDecodedInstruction& one) {
  constexpr ZyanU8 kByte = 8;
  bool is_second_byte = one.operand_width == kByte && (one.attributes & ZYDIS_ATTRIB_HAS_REX) == 0;
  return one.raw.modrm.reg == kRsp && one.raw.rex.R == 0 && !is_second_byte;
}

std::uint8_t word_bytes_of(const ZydisDecodedInstruction& one) {
  constexpr std::uint8_t kWide = 16, kDouble = 8, kBits = 8;
  if (one.mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B) return kWide;
  if (one.mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B) return kDouble;
  return static_cast<std::uint8_t>(one.operand_width / kBits);
}

Register extended(ZyanU8 low, ZyanU8 high) { return static_cast<Register>(low | high << 3); }

void read_operand(const ZydisDecodedInstruction& one, LockedInstruction& locked) {
  constexpr ZyanU8 kHasIndex = 4, kNoBase = 5;
  const auto& raw = one.raw;
  locked.displacement = static_cast<std::int32_t>(raw.disp.value);
  locked.has_short_addresses = one.address_width == 32;
  locked.scale = 0;
  if (raw.modrm.rm != kHasIndex) {
    locked.is_relative = raw.modrm.mod == 0 && raw.modrm.rm == kNoBase;
    locked.displacement_at = raw.disp.offset;
    if (!locked.is_relative) locked.base = extended(raw.modrm.rm, raw.rex.B);
    return;
  }
  if (!(raw.modrm.mod == 0 && raw.sib.base == kNoBase))
    locked.base = extended(raw.sib.base, raw.rex.B);
  Register index = extended(raw.sib.index, raw.rex.X);
  if (index != kRsp) locked.index = index;
  locked.scale = raw.sib.scale;
}

// Where the instruction is and what its bytes are, and no more.
LockedInstruction copy_of(const ZydisDecodedInstruction& one, const std::uint8_t* bytes,
                          std::uint64_t address) {
  LockedInstruction copy;
  copy.address = address;
  copy.length = one.length;
  std::memcpy(copy.bytes.data(), bytes, one.length);
  return copy;
}

LockedInstruction read(const ZydisDecodedInstruction& one, const std::uint8_t* bytes,
                       std::uint64_t address) {
  LockedInstruction locked = copy_of(one, bytes, address);
  locked.word_bytes = word_bytes_of(one);
  read_operand(one, locked);
  if (selects_by_register(one)) locked.bit_register = extended(one.raw.modrm.reg, one.raw.rex.R);
  locked.keeps_flags = !replaces_flags(one.mnemonic);
  locked.modrm_at = one.raw.modrm.offset;
  locked.immediate_at = one.raw.imm[0].size != 0 ? one.raw.imm[0].offset : one.length;
  bool has_register = locked.immediate_at == one.length;
  locked.change = has_register && uses_stack_pointer(one) ? Change::kOther : change_of(one);
  return locked;
}

LockedInstruction read_fence(const ZydisDecodedInstruction& one, const std::uint8_t* bytes,
                             std::uint64_t address) {
  LockedInstruction fence = copy_of(one, bytes, address);
  fence.is_fence = true;
  return fence;
}

bool goes_on(const ZydisDecodedInstruction& one) {
  switch (one.meta.category) {
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_RET:
      return false;
    default:
      return one.mnemonic != ZYDIS_MNEMONIC_UD2 && one.mnemonic != ZYDIS_MNEMONIC_HLT &&
             one.mnemonic != ZYDIS_MNEMONIC_INT3;  // behind a return: nobody comes there
  }
}

// The opcode behind prefixes: whether an instruction with a lock prefix can have it.
bool may_be_locked(std::span<const std::uint8_t> code) {
  constexpr std::uint8_t kArithmetic = 0x38;
  std::size_t at = 0;
  auto is_prefix = [](std::uint8_t byte) {
    return (byte & 0xf0) == 0x40 || (byte & 0xfc) == 0x64 || (byte & 0xfe) == 0xf2 ||
           byte == 0xf0 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26;
  };
  while (at < code.size() && is_prefix(code[at])) ++at;
  if (at + 1 >= code.size()) return false;
  std::uint8_t opcode = code[at];
  if (opcode == 0x0f) {
    std::uint8_t second = code[at + 1];
    return second == 0xab || second == 0xb3 || second == 0xbb || second == 0xba ||
           (second & 0xfe) == 0xb0 || (second & 0xfe) == 0xc0 || second == 0xc7;
  }
  if (opcode < kArithmetic && (opcode & 6) == 0) return true;
  return (opcode & 0xfc) == 0x80 || (opcode & 0xfe) == 0x86 || (opcode & 0xfe) == 0xf6 ||
         (opcode & 0xfe) == 0xfe;
}

bool may_be_mfence(std::span<const std::uint8_t> code) {
  return code.size() >= 3 && code[0] == 0x0f && code[1] == 0xae && (code[2] & 0xf8) == 0xf0;
}

// Instructions of VIA's PadLock that the decoder may not know (rep xsha512): three bytes behind
// rep.
std::size_t padlock_bytes(std::span<const std::uint8_t> code) {
  constexpr std::size_t kBytes = 4;
  bool is_one = code.size() >= kBytes && code[0] == 0xf3 && code[1] == 0x0f &&
                (code[2] == 0xa6 || code[2] == 0xa7) && code[3] >> 6 == kInMemory;
  return is_one ? kBytes : 0;
}

}  // namespace

bool can_decode() { return true; }

Decoded decode(std::span<const std::uint8_t> code, std::uint64_t address, Fences fences,
               Until until) {
  Decoded found;
  std::size_t at = 0;
  ZydisDecodedInstruction one;
  while (at < code.size()) {
    const std::uint8_t* bytes = code.data() + at;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&decoder(), nullptr, bytes, code.size() - at, &one))) {
      if (std::size_t known = padlock_bytes(code.subspan(at)); known != 0) {
        at += known;
        continue;
      }
      found.is_good = false;
      break;
    }
    std::uint64_t here = address + at;
    if (is_locked(one) && !has_own_segment(one)) {
      LockedInstruction locked = read(one, bytes, here);
      if (!is_fence(one, locked)) {
        found.locked.push_back(locked);
      } else if (fences == Fences::kFind) {
        found.locked.push_back(read_fence(one, bytes, here));
      }
    } else if (one.mnemonic == ZYDIS_MNEMONIC_MFENCE && fences == Fences::kFind) {
      found.locked.push_back(read_fence(one, bytes, here));
    }
    bool names_target = one.raw.imm[0].size != 0 && one.raw.imm[0].is_relative;
    if (names_target)
      found.targets.push_back(here + one.length +
                              static_cast<std::uint64_t>(one.raw.imm[0].value.s));
    found.falls_through = goes_on(one);
    at += one.length;
    if (until == Until::kLeaves && !found.falls_through) break;
  }
  found.end = address + at;
  return found;
}

std::size_t next_candidate(std::span<const std::uint8_t> code, std::size_t from, Fences fences) {
  constexpr std::uint8_t kLock = 0xf0, kExchange = 0x86;
  bool finds_fences = fences == Fences::kFind;
  for (std::size_t at = from; at + 1 < code.size(); ++at) {
    if (code[at] == kLock && may_be_locked(code.subspan(at + 1))) return at;
    if (finds_fences && may_be_mfence(code.subspan(at))) return at;
    if ((code[at] & 0xfe) == kExchange && code[at + 1] >> 6 != kInMemory) return at;
  }
  return code.size();
}

std::size_t padding(std::span<const std::uint8_t> code) {
  std::size_t at = 0;
  ZydisDecodedInstruction one;
  while (at < code.size() &&
         ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), nullptr, code.data() + at,
                                                    code.size() - at, &one)) &&
         (one.mnemonic == ZYDIS_MNEMONIC_NOP || one.mnemonic == ZYDIS_MNEMONIC_INT3))
    at += one.length;
  return at;
}

}  // namespace terrane::patch
