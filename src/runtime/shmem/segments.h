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

struct ElementRange {
  std::uint64_t first, end;
};

// Segments end at cache lines (of arrays that begin there), so that no two PEs write one line.
inline ElementRange segment_of(const Team& team, const Arrays& arrays, std::uint32_t member) {
  constexpr std::uint64_t kLine = 2 * kCacheLine;  // neighbours are fetched in pairs
  std::uint64_t line = std::max<std::uint64_t>(kLine / arrays.element_bytes(), 1);
  std::uint64_t share = (arrays.count + team.size() - 1) / team.size();
  share = (share + line - 1) / line * line;
  return {std::min(arrays.count, share * member), std::min(arrays.count, share * (member + 1))};
}

// Where in `count` segments the processor that we are on begins: each somewhere else, and always at
// the same place, which its caches then have.
std::uint64_t first_for_processor(std::uint64_t count);

// Gives visit(owner, piece) the pieces of the segments of the members on our host, each to one of
// them: those of our own segment; or, where members wait for processors, any that nobody works on,
// so that a member that has a processor goes on, and the others need it for a moment only. For all
// members, between two synchronisations, the first of which follows offer_work().
template <typename Visit>
void for_each_piece(Team& team, const Arrays& arrays, std::uint64_t elements, Visit visit) {
  auto work_on = [&](std::uint32_t owner) {
    ElementRange segment = segment_of(team, arrays, owner);
    for (;;) {
      std::uint64_t first = segment.first + team.take_work(owner) * elements;
      if (first >= segment.end) return;
      visit(owner, ElementRange{first, std::min(first + elements, segment.end)});
    }
  };
  if (!team.crowded()) return work_on(team.self());
  std::span<const std::uint32_t> near = team.neighbours();
  std::uint64_t start = first_for_processor(near.size());
  for (std::uint64_t step = 0; step < near.size(); ++step) {
    work_on(near[(start + step) % near.size()]);
  }
}

// Stores a piece of the result to a member.
void put_piece(Team& team, std::uint32_t member, SymmetricAddress to, const std::byte* piece,
               std::uint64_t bytes);

// The members' sources piece by piece: mapped, or fetched, all far ones at a time.
class Pieces {
 public:
  Pieces(Team& team, const Arrays& arrays);

  std::uint64_t elements() const { return elements_; }  // of a piece at most
  // Makes the members' elements first.. first + count (a piece at most) available.
  void fetch(std::uint64_t first, std::uint64_t count);
  const std::byte* of(std::uint32_t member) const;
  // Room for one piece.
  std::byte* room() { return room_[0].bytes; }
  std::byte* second_room() { return room_[piece_lines()].bytes; }

 private:
  std::uint64_t piece_lines() const {
    return (elements_ * arrays_->element_bytes() + kCacheLine - 1) / kCacheLine;
  }

  Team* team_;
  const Arrays* arrays_;
  std::uint64_t elements_;
  std::uint64_t first_ = 0;
  struct alignas(kCacheLine) Line {
    std::byte bytes[kCacheLine];
  };
  std::unique_ptr<Line[]> room_;          // two pieces
  std::unique_ptr<std::byte[]> fetched_;  // a piece for each member, where some are far
};

}  // namespace terrane::runtime::shmem
