#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "runtime/shmem/collectives.h"
#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem {

// Arrays of the same length at every member. Each member works on its own segment of all arrays, in
// pieces that fit the nearest cache.
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

// Segments end at cache lines (if the arrays begin at one), so that two PEs never write one line.
inline ElementRange segment_of(const Team& team, const Arrays& arrays, std::uint32_t member) {
  constexpr std::uint64_t kLine = 2 * kCacheLine;  // the processor prefetches lines in pairs
  std::uint64_t line = std::max<std::uint64_t>(kLine / arrays.element_bytes(), 1);
  std::uint64_t share = (arrays.count + team.size() - 1) / team.size();
  share = (share + line - 1) / line * line;
  return {std::min(arrays.count, share * member), std::min(arrays.count, share * (member + 1))};
}

// The index, of `count` segments, at which the current processor begins. Processors begin at
// different indices, and each always at the same one, whose data are then in its caches.
std::uint64_t first_for_processor(std::uint64_t count);

// Calls visit(owner, piece) for the pieces of the segments of the members on our host, each piece
// at one member. A member visits the pieces of its own segment. If members wait for processors, a
// member visits any piece that was not taken; so a member with a processor goes on, and the others
// need one only for a moment. Called by all members, between two synchronisations; offer_work()
// before the first.
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

// Stores a piece of the result at a member.
void put_piece(Team& team, std::uint32_t member, SymmetricAddress to, const std::byte* piece,
               std::uint64_t bytes);

// Reads the members' sources piece by piece: directly if they are mapped; otherwise fetches them,
// from all far members at once.
class Pieces {
 public:
  Pieces(Team& team, const Arrays& arrays);

  std::uint64_t elements() const { return elements_; }  // most of a piece
  // Makes elements [first, first + count) of all members available; at most one piece.
  void fetch(std::uint64_t first, std::uint64_t count);
  const std::byte* of(std::uint32_t member) const;
  // Buffers for one piece each.
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
  std::unique_ptr<std::byte[]> fetched_;  // one piece for each member; nullptr: none is far
};

}  // namespace terrane::runtime::shmem
