#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace terrane::protocol {

// An atomic operation on an aligned word of 1, 2, 4 or 8 bytes. It is done in the home's memory,
// and changes no byte beside the word: another thread of the node may have written those to its
// copy.
enum class AtomicKind : std::uint8_t { kLoad, kStore, kAdd, kAnd, kOr, kXor, kCompareSwap };

struct AtomicOp {
  AtomicKind kind = AtomicKind::kLoad;
  std::uint8_t size = 8;
  std::uint32_t offset = 0;    // of the word, in its block, in bytes
  std::uint64_t operand = 0;   // the value to store, to add, and so on
  std::uint64_t expected = 0;  // kCompareSwap only
};

// A number as a word of so many bytes holds it.
constexpr std::uint64_t cut(std::uint64_t number, std::uint8_t size) {
  return size == 8 ? number : number & ((std::uint64_t{1} << 8 * size) - 1);
}

// The word after the operation, if it was `before`.
constexpr std::uint64_t after(const AtomicOp& op, std::uint64_t before) {
  switch (op.kind) {
    case AtomicKind::kLoad:
      return before;
    case AtomicKind::kStore:
      return op.operand;
    case AtomicKind::kAdd:
      return cut(before + op.operand, op.size);
    case AtomicKind::kAnd:
      return before & op.operand;
    case AtomicKind::kOr:
      return before | op.operand;
    case AtomicKind::kXor:
      return before ^ op.operand;
    case AtomicKind::kCompareSwap:
      return before == op.expected ? op.operand : before;
  }
  return before;
}

// Performs the operation on the word, by the machine's own atomic operations. Returns the word
// before it.
template <typename Word>
std::uint64_t perform(const AtomicOp& op, std::byte* block) {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(block + op.offset));
  auto operand = static_cast<Word>(op.operand);
  switch (op.kind) {
    case AtomicKind::kLoad:
      return word.load();
    case AtomicKind::kStore:
      return word.exchange(operand);
    case AtomicKind::kAdd:
      return word.fetch_add(operand);
    case AtomicKind::kAnd:
      return word.fetch_and(operand);
    case AtomicKind::kOr:
      return word.fetch_or(operand);
    case AtomicKind::kXor:
      return word.fetch_xor(operand);
    case AtomicKind::kCompareSwap: {
      auto expected = static_cast<Word>(op.expected);
      word.compare_exchange_strong(expected, operand);
      return expected;
    }
  }
  return 0;
}
inline std::uint64_t perform(const AtomicOp& op, std::byte* block) {
  switch (op.size) {
    case 1:
      return perform<std::uint8_t>(op, block);
    case 2:
      return perform<std::uint16_t>(op, block);
    case 4:
      return perform<std::uint32_t>(op, block);
    default:
      return perform<std::uint64_t>(op, block);
  }
}

// Whether the word is aligned and lies in a block of that size; a check of messages from the
// network.
constexpr bool is_valid(const AtomicOp& op, std::uint64_t block_bytes) {
  bool is_word = op.size == 1 || op.size == 2 || op.size == 4 || op.size == 8;
  return op.kind <= AtomicKind::kCompareSwap && is_word && op.offset % op.size == 0 &&
         op.offset < block_bytes && op.size <= block_bytes - op.offset;
}

}  // namespace terrane::protocol
