#include <vector>

#include "runtime/shmem/clustered.h"
#include "runtime/shmem/collectives.h"
#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem {
namespace {

void fcollect_inline(Team& team, std::byte* dest, const void* source, std::uint64_t bytes) {
  Team::Turn turn = team.next_turn();
  team.show(turn, source, bytes);
  for_each_member(team, [&](std::uint32_t member) {
    std::memcpy(dest + member * bytes, team.see(turn, member), bytes);
  });
}

void put_to_all(Team& team, SymmetricAddress to, const void* from, std::uint64_t bytes) {
  for_each_member(
      team, [&](std::uint32_t member) { team.reach().put(team.pe(member), to, from, bytes); });
  team.reach().quiet();
  team.sync();
}

}  // namespace

std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes) {
  std::vector<std::uint64_t> sizes(team.size());
  Team::Turn turn = team.next_turn();
  team.show(turn, &bytes, sizeof bytes);
  if (team.on_one_host()) {
    for_each_member(team, [&](std::uint32_t member) {
      std::memcpy(&sizes[member], team.see(turn, member), sizeof bytes);
    });
    return sizes;
  }
  team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    team.reach().start_get(team.pe(member), team.cell_place(turn), &sizes[member], sizeof bytes);
  });
  team.reach().quiet();
  return sizes;
}

void fcollect(Team& team, void* dest, const void* source, std::uint64_t bytes) {
  auto* target = static_cast<std::byte*>(dest);
  if (bytes == 0) return;
  if (team.size() == 1) return move_bytes(dest, source, bytes);
  if (team.clusters() != nullptr) {
    clustered::Blocks blocks{{}, std::vector<std::uint64_t>(team.size(), bytes)};
    for (std::uint32_t member = 0; member < team.size(); ++member)
      blocks.starts.push_back(member * bytes);
    return clustered::gather(team, dest, source, blocks);
  }
  Algorithm algorithm = team.choose(Collective::kFcollect, bytes);
  if (algorithm == Algorithm::kInline) return fcollect_inline(team, target, source, bytes);
  if (algorithm == Algorithm::kPut) {
    SymmetricAddress to = symmetric(team, dest, bytes * team.size(), "dest");
    return put_to_all(team, to + team.self() * bytes, source, bytes);
  }
  SymmetricAddress from = symmetric(team, source, bytes, "source");
  team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    team.reach().start_get(team.pe(member), from, target + member * bytes, bytes);
  });
  team.reach().quiet();
  team.sync();
}

void collect(Team& team, void* dest, const void* source, std::uint64_t bytes) {
  if (team.size() == 1) return move_bytes(dest, source, bytes);
  const bool is_clustered =
      team.clusters() != nullptr && clustered::may_exchange_sizes(*team.clusters());
  std::vector<std::uint64_t> sizes =
      is_clustered ? clustered::exchange_sizes(team, bytes) : exchange_sizes(team, bytes);
  std::vector<std::uint64_t> starts(team.size());
  std::uint64_t total = 0, largest = 0;
  bool all_have = true;
  for (std::uint32_t member = 0; member < team.size(); ++member) {
    starts[member] = total;
    total += sizes[member];
    largest = std::max(largest, sizes[member]);
    all_have = all_have && sizes[member] != 0;
  }
  if (is_clustered && total != 0)
    return clustered::gather(team, dest, source, {std::move(starts), std::move(sizes)});
  // If a PE has no bytes its source may be any address, so it cannot name the sources of the other
  // PEs: then all PEs put.
  if (!all_have || team.choose(Collective::kCollect, largest) == Algorithm::kPut) {
    SymmetricAddress to = symmetric(team, dest, total, "dest");
    return put_to_all(team, to + starts[team.self()], source, bytes);
  }
  if (total == 0) return team.sync();
  // Only the start is known to be symmetric: other PEs may have more bytes than we, and we must
  // name the place.
  SymmetricAddress from = symmetric(team, source, std::max<std::uint64_t>(bytes, 1), "source");
  if (team.on_one_host()) team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    team.reach().start_get(team.pe(member), from, static_cast<std::byte*>(dest) + starts[member],
                           sizes[member]);
  });
  team.reach().quiet();
  team.sync();
}

}  // namespace terrane::runtime::shmem
