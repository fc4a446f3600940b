#pragma once

#include <cstdint>
#include <vector>

#include "runtime/shmem/combine.h"
#include "runtime/shmem/team.h"

// Collective operations on data. All members of the team call them in the same order with the same
// arguments; `dest` and `source` are symmetric, or else the job ends. From the first call on the
// dest of every member may be written. A source is read only after its owner's call, and may be
// changed when that call has returned. Sizes in bytes.
namespace terrane::runtime::shmem {

// Copies the root's source to every member's dest; to its own dest only if `root_too`.
void broadcast(Team& team, void* dest, const void* source, std::uint64_t bytes, std::uint32_t root,
               bool root_too = true);

// Copies all sources, in the members' order, to every dest. In collect, members may have different
// numbers of bytes.
void fcollect(Team& team, void* dest, const void* source, std::uint64_t bytes);
void collect(Team& team, void* dest, const void* source, std::uint64_t bytes);

// The number of bytes of each member. The team must synchronise before it ends the operation.
std::vector<std::uint64_t> exchange_sizes(Team& team, std::uint64_t bytes);

// Block m of our source is copied to block (our number) of member m's dest; blocks of `bytes`.
void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes);

struct AlltoallStrides {
  std::uint64_t dest = 1;  // in elements
  std::uint64_t source = 1;
};
// The same with blocks of `count` elements, whose elements are the strides apart.
void alltoalls(Team& team, void* dest, const void* source, AlltoallStrides strides,
               std::uint64_t count, std::uint64_t element_bytes);

// Element i of every dest becomes the combination of the elements i of all sources; nothing happens
// if `count` is 0. dest may be the source. Every PE gets the same bits.
void reduce(Team& team, void* dest, const void* source, std::uint64_t count,
            const Combine& operation);

// The same over the members up to and including ourselves; exclusive: up to the one before
// ourselves, zeros at the first member.
void scan(Team& team, void* dest, const void* source, std::uint64_t count, const Combine& sum,
          bool inclusive);

}  // namespace terrane::runtime::shmem
