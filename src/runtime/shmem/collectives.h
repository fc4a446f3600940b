#pragma once

#include <cstdint>
#include <vector>

#include "runtime/shmem/combine.h"
#include "runtime/shmem/team.h"

// Collective operations on data. All members of the team call them in the same order with the same
// arguments; `dest` and `source` are symmetric. The targets of all members may be written from the
// first call on, a source is read after its owner's call only, and may be changed again when that
// returns. Sizes in bytes. Not symmetric: the job ends.
namespace terrane::runtime::shmem {

// `root`'s source comes to every member's dest; to its own only if `root_too`.
void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes, std::uint32_t root,
               bool root_too = true);

// All sources, in the members' order, come to every dest. With collect, members may have different
// numbers of bytes.
void fcollect(Team& team, void* dest, const void* source, std::uint64_t bytes);
void collect(Team& team, void* dest, const void* source, std::uint64_t bytes);

// How many bytes each member has. The team must synchronise before it ends the operation.
std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes);

// Block m of our source comes to block (our number) of member m's dest; blocks of `bytes`.
void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes);

struct AlltoallStrides {
  std::uint64_t dest = 1;  // in elements
  std::uint64_t source = 1;
};
// The same with blocks of `count` elements, which lie apart by the strides.
void alltoalls(Team& team, void* dest, const void* source, AlltoallStrides strides,
               std::uint64_t count, std::uint64_t element_bytes);

// Element i of every dest becomes the combination of all sources' elements i; of no elements where
// `count` is 0. dest may be the source. Every PE gets the same bits.
void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation);

// The same over the members up to ourselves; exclusive: before ourselves, zeros at the first one.
void scan(Team& team, void* dest, const void* source, std::uint64_t count, const Combine& sum,
          bool inclusive);

}  // namespace terrane::runtime::shmem
