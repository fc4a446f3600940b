#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace terrane::runtime::shmem {

// Which offsets of a range are free and which belong to blocks. Never touches the memory itself.
// The same calls give the same results on every PE. Owns its tables; not thread-safe. Every call
// takes time logarithmic in the number of blocks.
class FreeRanges {
 public:
  // At first all of [0, bytes) is free.
  explicit FreeRanges(std::uint64_t bytes);

  // The offset of a new block, in the smallest free range with enough room (of equal ones the
  // lowest); nullopt: none has enough. Blocks begin at multiples of `alignment`, a power of two,
  // and of alignment_for(bytes). bytes > 0.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment = 1);
  // Frees the block at `offset` and joins it with the free ranges beside it.
  void give_back(std::uint64_t offset);
  // Makes a block shorter or longer in place. False: there is no room after it.
  bool resize(std::uint64_t offset, std::uint64_t bytes);

  // The requested size of the block that begins at `offset`; nullopt: no block does.
  std::optional<std::uint64_t> size_at(std::uint64_t offset) const;
  // Whether [offset, offset + bytes) lies inside one block.
  bool inside_block(std::uint64_t offset, std::uint64_t bytes) const;
  // The bytes of all blocks, with the rounding.
  std::uint64_t taken_bytes() const { return taken_bytes_; }
  std::size_t blocks() const { return blocks_.size(); }
  std::size_t free_ranges() const { return by_offset_.size(); }

  // 16 suffices for every type. Blocks of a cache line or more begin at one, so that neighbours
  // share none.
  static std::uint64_t alignment_for(std::uint64_t bytes) { return bytes < 64 ? 16 : 64; }
  // The bytes that a block of this size occupies.
  static std::uint64_t rounded(std::uint64_t bytes);

 private:
  struct Block {
    std::uint64_t asked, taken;
  };

  void insert_free(std::uint64_t offset, std::uint64_t bytes);
  void erase_free(std::map<std::uint64_t, std::uint64_t>::iterator range);

  std::map<std::uint64_t, std::uint64_t> by_offset_;           // free: offset, bytes
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // free: bytes, offset
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace terrane::runtime::shmem
