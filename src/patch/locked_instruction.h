#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrane::patch {

inline constexpr std::size_t kLongestInstruction = 15;

// A register by its number in the encoding of instructions; kNoRegister: none.
using Register = std::uint8_t;
inline constexpr Register kNoRegister = 0xff;
inline constexpr Register kRax = 0, kRcx = 1, kRdx = 2, kRbx = 3, kRsp = 4, kRbp = 5, kRsi = 6,
                          kRdi = 7;

// What an instruction does to its word, where that does not depend on what the word was: it stores
// an operand, adds it, and so on; or it stores one if the word is what rax holds. kOther: another
// one, or one that does not say its operand by its registers and its bytes alone.
enum class Change : std::uint8_t { kOther, kStore, kAdd, kAnd, kOr, kXor, kCompareSwap };

// An instruction that reads, changes and stores a word of memory as one step: one with a lock
// prefix, or an exchange with memory. Or a fence, which has no word that matters.
struct LockedInstruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  std::array<std::uint8_t, kLongestInstruction> bytes{};
  std::uint8_t word_bytes = 0;  // of the operand in memory: 1 to 16; of a fence 0

  // The operand's address: base + index * 2^scale + displacement.
  Register base = kNoRegister, index = kNoRegister;
  std::uint8_t scale = 0;
  std::int32_t displacement = 0;
  std::uint8_t displacement_at = 0;  // where it lies in the bytes, if it counts from the next
  bool is_relative = false;          // ... instruction
  bool has_short_addresses = false;  // of 32 bits: the prefix 67

  // bts, btr and btc: the register whose bits select a word beside the operand's, as a number with
  // a sign of that many bytes.
  Register bit_register = kNoRegister;

  Change change = Change::kOther;
  std::uint8_t modrm_at = 0;      // where the bytes name the operands
  std::uint8_t immediate_at = 0;  // where a number is; none: the instruction's length

  bool is_fence = false;

  // It depends on flags that earlier instructions left, or leaves some of them as they are.
  bool keeps_flags = true;
};

// What decoding a piece of code finds.
struct Decoded {
  std::vector<LockedInstruction> locked;
  std::vector<std::uint64_t> targets;  // of jumps and calls to addresses that the code names
  std::uint64_t end = 0;               // behind the last instruction that was decoded
  bool falls_through = true;           // the instruction before `end` goes on behind it
  bool is_good = true;                 // every byte belongs to an instruction
};

// Whether fences are looked for: mfence, and what combines a word of the stack with zero.
enum class Fences : std::uint8_t { kLeave, kFind };

// Where decoding ends: at the end of the code, or behind the first instruction that does not go on
// to the next one (a return, a jump).
enum class Until : std::uint8_t { kEnd, kLeaves };

// Decodes instructions one behind the other, from the first byte on: `code` lies at `address`. Left
// out are locked instructions that work on a thread's own variables (by %fs or %gs), and fences
// unless they are looked for: they change nothing.
Decoded decode(std::span<const std::uint8_t> code, std::uint64_t address,
               Fences fences = Fences::kLeave, Until until = Until::kEnd);

// The first place of `code` from `from` on at which a locked instruction, or a fence that is looked
// for, could begin; its size: none. Other bytes may look like it. None begins elsewhere.
std::size_t next_candidate(std::span<const std::uint8_t> code, std::size_t from,
                           Fences fences = Fences::kLeave);

// How many bytes of `code` are instructions that do nothing, one behind the other: nops, and the
// one-byte trap that some linkers fill gaps with.
std::size_t padding(std::span<const std::uint8_t> code);

// Whether this build has a decoder.
bool can_decode();

}  // namespace terrane::patch
