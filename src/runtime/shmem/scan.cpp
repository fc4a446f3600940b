#include "runtime/shmem/segments.h"

namespace terrane::runtime::shmem {
namespace {

void scan_inline(Team& team, void* dest, const void* source, std::uint64_t count,
                 const Combine& sum, bool inclusive) {
  std::uint64_t bytes = count * sum.element_bytes;
  alignas(kCacheLine) std::byte total[kCellBytes];
  Team::Turn turn = team.next_turn();
  team.show(turn, source, bytes);
  std::uint32_t end = team.self() + (inclusive ? 1 : 0);
  std::memset(total, 0, bytes);
  if (end > 0) std::memcpy(total, team.see(turn, 0), bytes);
  for (std::uint32_t member = 1; member < end; ++member) {
    sum.combine(total, total, team.see(turn, member), count);
  }
  std::memcpy(dest, total, bytes);
}

// Works on one piece of all members: each member gets the total up to it, or before it. `before`
// and `after` are buffers for two totals.
void scan_piece(Team& team, const Arrays& arrays, Pieces& pieces, ElementRange piece,
                bool inclusive) {
  std::byte* before = pieces.room();
  std::byte* after = pieces.second_room();
  std::uint64_t count = piece.end - piece.first, bytes = count * arrays.element_bytes();
  SymmetricAddress to = arrays.dest + piece.first * arrays.element_bytes();
  std::memset(before, 0, bytes);
  for (std::uint32_t member = 0; member < team.size(); ++member) {
    // The target may be the source.
    if (member == 0) {
      std::memcpy(after, pieces.of(0), bytes);
    } else {
      arrays.operation->combine(after, before, pieces.of(member), count);
    }
    put_piece(team, member, to, inclusive ? after : before, bytes);
    std::swap(before, after);
  }
}

// One PE computes each piece for all members.
void scan_put(Team& team, const Arrays& arrays, bool inclusive) {
  team.offer_work();
  team.sync();
  Pieces pieces(team, arrays);
  for_each_piece(team, arrays, pieces.elements(), [&](std::uint32_t, ElementRange piece) {
    pieces.fetch(piece.first, piece.end - piece.first);
    scan_piece(team, arrays, pieces, piece, inclusive);
  });
  team.reach().quiet();
  team.sync();
}

// Each PE computes all for itself, in private memory, because its target may be a source of others.
void scan_get(Team& team, const Arrays& arrays, void* dest, bool inclusive) {
  auto total = std::make_unique<std::byte[]>(arrays.bytes());
  auto source = std::make_unique_for_overwrite<std::byte[]>(arrays.bytes());
  std::uint32_t end = team.self() + (inclusive ? 1 : 0);
  team.sync();
  for (std::uint32_t member = 0; member < end; ++member) {
    std::byte* into = member == 0 ? total.get() : source.get();
    team.reach().get(team.pe(member), arrays.source, into, arrays.bytes());
    if (member > 0) arrays.operation->combine(total.get(), total.get(), into, arrays.count);
  }
  team.sync();
  std::memcpy(dest, total.get(), arrays.bytes());
}

}  // namespace

void scan(Team& team, void* dest, const void* source, std::uint64_t count, const Combine& sum,
          bool inclusive) {
  std::uint64_t bytes = count * sum.element_bytes;
  if (count == 0) return;
  Algorithm algorithm = team.choose(Collective::kScan, bytes);
  if (algorithm == Algorithm::kInline) {
    return scan_inline(team, dest, source, count, sum, inclusive);
  }
  Arrays arrays{symmetric(team, dest, bytes, "dest"), symmetric(team, source, bytes, "source"),
                count, &sum};
  if (algorithm == Algorithm::kGet) {
    scan_get(team, arrays, dest, inclusive);
  } else {
    scan_put(team, arrays, inclusive);
  }
}

}  // namespace terrane::runtime::shmem
