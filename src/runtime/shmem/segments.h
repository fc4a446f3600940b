#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "runtime/shmem/collectives.h"
#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem {

// Arrays of the same length at every member, of which each member works on its own segment, in
// pieces that stay in the nearest cache.
struct Arrays {
  SymmetricAddress dest;
  SymmetricAddress source;
  std::uint64_t count;
  const Combine* operation;

  std::uint64_t element_bytes() const { return operation->element_bytes; }
  std::uint64_t bytes() const { return count * element_bytes(); }
};

struct Segment {
  std::uint64_t first, end;  // elements
};

// Segments end at cache lines (of arrays that begin there), so that no two PEs write one line.
inline Segment segment_of(const Team& team, const Arrays& arrays, std::uint32_t member) {
  constexpr std::uint64_t kLine = 2 * kCacheLine;  // neighbours are fetched in pairs
  std::uint64_t line = std::max<std::uint64_t>(kLine / arrays.element_bytes(), 1);
  std::uint64_t share = (arrays.count + team.size() - 1) / team.size();
  share = (share + line - 1) / line * line;
  return {std::min(arrays.count, share * member), std::min(arrays.count, share * (member + 1))};
}

// The members' sources piece by piece: mapped, or fetched, all far ones at a time.
class Pieces {
 public:
  Pieces(Team& team, const Arrays& arrays);

  std::uint64_t elements() const { return elements_; }  // of a piece at most
  // Makes the members' elements first.. first + count (a piece at most) available.
  void fetch(std::uint64_t first, std::uint64_t count);
  const std::byte* of(std::uint32_t member) const;
  // Room for one piece.
  std::byte* room() { return room_.get(); }
  std::byte* second_room() { return room_.get() + elements_ * arrays_->element_bytes(); }

 private:
  Team* team_;
  const Arrays* arrays_;
  std::uint64_t elements_;
  std::uint64_t first_ = 0;
  std::unique_ptr<std::byte[]> room_;
  std::unique_ptr<std::byte[]> fetched_;  // a piece for each member, where some are far
};

}  // namespace terrane::runtime::shmem
