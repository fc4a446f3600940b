#include "runtime/shmem/free_ranges.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace terrane::runtime::shmem {
namespace {

// This many ranges that may be too short after alignment are tried. Then a range is taken that is
// long enough for any alignment.
constexpr int kLooks = 16;

std::uint64_t up(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace

std::uint64_t FreeRanges::rounded(std::uint64_t bytes) {
  std::uint64_t granule = alignment_for(bytes);
  return bytes > ~std::uint64_t{0} - granule ? ~std::uint64_t{0} : up(bytes, granule);
}

FreeRanges::FreeRanges(std::uint64_t bytes) {
  if (bytes != 0) insert_free(0, bytes);
}

std::optional<std::uint64_t> FreeRanges::take(std::uint64_t bytes, std::uint64_t alignment) {
  std::uint64_t taken = rounded(bytes);
  alignment = std::max(alignment, alignment_for(bytes));
  auto room = by_size_.lower_bound({taken, 0});
  auto fits = [&](const auto& range) {
    auto [size, offset] = range;
    std::uint64_t begin = up(offset, alignment);
    return begin >= offset && begin - offset <= size && size - (begin - offset) >= taken;
  };
  int looks = 0;
  while (room != by_size_.end() && !fits(*room) && ++looks < kLooks) ++room;
  if (looks == kLooks && taken <= ~std::uint64_t{0} - alignment)
    room = by_size_.lower_bound({taken + alignment, 0});
  if (room == by_size_.end() || !fits(*room)) return std::nullopt;
  auto [size, offset] = *room;
  std::uint64_t begin = up(offset, alignment), end = begin + taken;
  erase_free(by_offset_.find(offset));
  if (begin != offset) insert_free(offset, begin - offset);
  if (end != offset + size) insert_free(end, offset + size - end);
  blocks_.emplace(begin, Block{bytes, taken});
  taken_bytes_ += taken;
  return begin;
}

void FreeRanges::give_back(std::uint64_t offset) {
  auto block = blocks_.find(offset);
  TERRANE_CHECK(block != blocks_.end(), "only what begins a block is given back");
  std::uint64_t begin = offset, end = offset + block->second.taken;
  taken_bytes_ -= block->second.taken;
  blocks_.erase(block);
  auto after = by_offset_.lower_bound(begin);
  if (after != by_offset_.end() && after->first == end) {
    end += after->second;
    auto joined = after++;
    erase_free(joined);
  }
  if (after != by_offset_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      erase_free(before);
    }
  }
  insert_free(begin, end - begin);
}

bool FreeRanges::resize(std::uint64_t offset, std::uint64_t bytes) {
  Block& block = blocks_.at(offset);
  std::uint64_t taken = rounded(bytes), old_end = offset + block.taken;
  if (offset % alignment_for(bytes) != 0) return false;
  auto after = by_offset_.find(old_end);
  std::uint64_t behind = after == by_offset_.end() ? 0 : after->second;
  if (taken > block.taken && taken - block.taken > behind) return false;
  if (behind != 0) erase_free(after);
  std::uint64_t end = offset + taken, limit = old_end + behind;
  if (end != limit) insert_free(end, limit - end);
  taken_bytes_ += taken - block.taken;
  block = {bytes, taken};
  return true;
}

std::optional<std::uint64_t> FreeRanges::size_at(std::uint64_t offset) const {
  auto block = blocks_.find(offset);
  if (block == blocks_.end()) return std::nullopt;
  return block->second.asked;
}

bool FreeRanges::inside_block(std::uint64_t offset, std::uint64_t bytes) const {
  auto after = blocks_.upper_bound(offset);
  if (after == blocks_.begin()) return false;
  auto block = std::prev(after);
  std::uint64_t inside = offset - block->first;
  return inside <= block->second.asked && bytes <= block->second.asked - inside;
}

void FreeRanges::insert_free(std::uint64_t offset, std::uint64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void FreeRanges::erase_free(std::map<std::uint64_t, std::uint64_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  by_offset_.erase(range);
}

}  // namespace terrane::runtime::shmem
