#include "runtime/shmem/clustered.h"
#include "runtime/shmem/segments.h"

namespace terrane::runtime::shmem {
namespace {

// Always in the members' order, so that all get the same bits.
void reduce_inline(Team& team, void* dest, const void* source, std::uint64_t count,
                   const Combine& operation) {
  std::uint64_t bytes = count * operation.element_bytes;
  alignas(kCacheLine) std::byte sum[kCellBytes];
  Team::Turn turn = team.next_turn();
  team.show(turn, source, bytes);
  std::memcpy(sum, team.see(turn, 0), bytes);
  for (std::uint32_t member = 1; member < team.size(); ++member) {
    operation.combine(sum, sum, team.see(turn, member), count);
  }
  std::memcpy(dest, sum, bytes);
}

// Combines all sources. Calls use(owner, first, piece, count) for each piece of the result that
// this member has taken.
template <typename Use>
void reduce_pieces(Team& team, const Arrays& arrays, Use use) {
  Pieces pieces(team, arrays);
  for_each_piece(team, arrays, pieces.elements(), [&](std::uint32_t owner, ElementRange piece) {
    std::uint64_t count = piece.end - piece.first;
    pieces.fetch(piece.first, count);
    std::byte* sum = pieces.room();
    arrays.operation->combine(sum, pieces.of(0), pieces.of(1), count);
    for (std::uint32_t member = 2; member < team.size(); ++member) {
      arrays.operation->combine(sum, sum, pieces.of(member), count);
    }
    use(owner, piece.first * arrays.element_bytes(), sum, count * arrays.element_bytes());
  });
}

// Stores each piece to all targets. If the targets are the sources that is safe: no other member
// reads the piece.
void reduce_put(Team& team, const Arrays& arrays) {
  team.offer_work();
  team.sync();
  reduce_pieces(
      team, arrays,
      [&](std::uint32_t, std::uint64_t offset, const std::byte* sum, std::uint64_t bytes) {
        for_each_member(team, [&](std::uint32_t member) {
          put_piece(team, member, arrays.dest + offset, sum, bytes);
        });
      });
  team.reach().quiet();
  team.sync();
}

// Stores each piece to its owner's target, from where the others load it.
void reduce_get(Team& team, const Arrays& arrays, std::byte* dest) {
  team.offer_work();
  team.sync();
  reduce_pieces(
      team, arrays,
      [&](std::uint32_t owner, std::uint64_t offset, const std::byte* sum, std::uint64_t bytes) {
        put_piece(team, owner, arrays.dest + offset, sum, bytes);
      });
  team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    if (member == team.self()) return;
    ElementRange segment = segment_of(team, arrays, member);
    std::uint64_t offset = segment.first * arrays.element_bytes();
    team.reach().start_get(team.pe(member), arrays.dest + offset, dest + offset,
                           (segment.end - segment.first) * arrays.element_bytes());
  });
  team.reach().quiet();
  team.sync();
}

}  // namespace

void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation) {
  std::uint64_t bytes = count * operation.element_bytes;
  if (count == 0) return;
  if (team.size() == 1) return move_bytes(dest, source, bytes);
  if (team.clusters() != nullptr) return clustered::reduce(team, dest, source, count, operation);
  Algorithm algorithm = team.choose(Collective::kReduce, bytes);
  if (algorithm == Algorithm::kInline) return reduce_inline(team, dest, source, count, operation);
  Arrays arrays{symmetric(team, dest, bytes, "dest"), symmetric(team, source, bytes, "source"),
                count, &operation};
  if (algorithm == Algorithm::kGet) {
    reduce_get(team, arrays, static_cast<std::byte*>(dest));
  } else {
    reduce_put(team, arrays);
  }
}

}  // namespace terrane::runtime::shmem
