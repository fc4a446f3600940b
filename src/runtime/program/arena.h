#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace terrane::runtime {

// Which bytes of some address ranges are free, for an allocator that packs: blocks follow each
// other without a gap, so that small ones share pages. Never touches the memory itself. Owns its
// tables; not thread-safe.
class Arena {
 public:
  static constexpr std::uint64_t kGrain = 16;  // blocks begin and end at multiples of it

  // Adds a free address range; begin and bytes are multiples of kGrain.
  void add(std::uintptr_t begin, std::uint64_t bytes);
  // Allocates a block; `bytes` is a positive multiple of kGrain. nullopt: no range has room.
  std::optional<std::uintptr_t> take(std::uint64_t bytes);
  // Frees a block of that size.
  void give_back(std::uintptr_t begin, std::uint64_t bytes);
  std::uint64_t free_bytes() const { return free_bytes_; }

 private:
  static constexpr std::uint64_t kSmall = 1024;  // smaller or equal free blocks are kept by size
  static constexpr std::uint64_t kRun = 64 << 10;

  std::optional<std::uintptr_t> take_large(std::uint64_t bytes);
  void give_large(std::uintptr_t begin, std::uint64_t bytes);
  void insert(std::uintptr_t begin, std::uint64_t bytes);
  void erase(std::map<std::uintptr_t, std::uint64_t>::iterator range);

  std::map<std::uintptr_t, std::uint64_t> by_address_;          // free: begin, bytes
  std::set<std::pair<std::uint64_t, std::uintptr_t>> by_size_;  // free: bytes, begin
  // Small blocks that were given back, by size; and the run from which new small blocks are cut.
  std::array<std::vector<std::uintptr_t>, kSmall / kGrain + 1> small_;
  std::uintptr_t run_ = 0, run_end_ = 0;
  std::uint64_t free_bytes_ = 0;
};

}  // namespace terrane::runtime
