#pragma once

#include <cstdint>
#include <vector>

#include "runtime/shmem/collectives.h"

// Collective operations on data in a team whose PEs are in several clusters (Team::clusters): the
// data of one cluster for another cross the link between them once, and are distributed inside it.
// Arguments as in collectives.h; the team has more than one PE, and there is at least one byte.
namespace terrane::runtime::shmem::clustered {

// Copies the root's data to every other member.
void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes, std::uint32_t root);

// The offsets of the members' blocks in dest, and their sizes, in bytes.
struct Blocks {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> sizes;

  std::uint64_t end(std::uint32_t member) const { return starts[member] + sizes[member]; }
};
void gather(Team& team, void* dest, const void* source, const Blocks& blocks);
// Whether the members are few enough for small messages to hold their sizes.
bool may_exchange_sizes(const Team::Clusters& clusters);
std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes);

// False: blocks of this size are better moved one by one.
bool alltoall_pays(const Team& team, std::uint64_t bytes);
void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes);

void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation);

}  // namespace terrane::runtime::shmem::clustered
