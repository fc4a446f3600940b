#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace terrane::runtime::shmem {

// Which offsets of a stretch are free and which are blocks. Knows nothing of the memory itself. The
// same calls give the same answers on every PE. Owns its tables; not thread-safe. Every call takes
// time logarithmic in the number of blocks.
class FreeRanges {
 public:
  // All of [0, bytes) is free.
  explicit FreeRanges(std::uint64_t bytes);

  // The offset of a new block, in the smallest free range that has room (of equal ones the lowest);
  // nullopt when none has. Blocks begin at multiples of `alignment`, a power of two, and of
  // alignment_for(bytes); bytes > 0.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment = 1);
  // Ends a block and joins it with what is free beside it. `offset` is a block's.
  void give_back(std::uint64_t offset);
  // Makes a block shorter or longer where it lies. False: there is no room behind it.
  bool resize(std::uint64_t offset, std::uint64_t bytes);

  // The size that was asked for the block that begins at `offset`; nullopt: none does.
  std::optional<std::uint64_t> size_at(std::uint64_t offset) const;
  // Whether [offset, offset + bytes) lies inside one block.
  bool inside_block(std::uint64_t offset, std::uint64_t bytes) const;
  // In blocks, rounded up as they are.
  std::uint64_t taken_bytes() const { return taken_bytes_; }
  std::size_t blocks() const { return blocks_.size(); }
  std::size_t free_ranges() const { return by_offset_.size(); }

  // Every type fits at 16; what fills cache lines begins at one, so that neighbours share none.
  static std::uint64_t alignment_for(std::uint64_t bytes) { return bytes < 64 ? 16 : 64; }
  // What a block of so many bytes takes.
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
