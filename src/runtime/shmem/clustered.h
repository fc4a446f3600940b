#pragma once

#include <cstdint>
#include <vector>

#include "runtime/shmem/collectives.h"

// Collective operations on data in a team whose PEs are in several clusters (Team::clusters): what
// one cluster has for another one crosses the link between them once, and is handed on inside.
// Arguments as in collectives.h; the team has more than one PE, and there are bytes.
namespace terrane::runtime::shmem::clustered {

// Gives every member but the root the root's data.
void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes, std::uint32_t root);

// Where the members' blocks lie in dest, and their bytes.
struct Blocks {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> sizes;

  std::uint64_t end(std::uint32_t member) const { return starts[member] + sizes[member]; }
};
void gather(Team& team, void* dest, const void* source, const Blocks& blocks);
// There are not so many members that small messages cannot hold their sizes.
bool may_exchange_sizes(const Team::Clusters& clusters);
std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes);

// False: blocks of this size are better moved one by one.
bool alltoall_pays(const Team& team, std::uint64_t bytes);
void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes);

void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation);

}  // namespace terrane::runtime::shmem::clustered
