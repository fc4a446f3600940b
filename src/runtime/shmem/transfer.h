#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/shmem/team.h"

// Parts of several collectives.
namespace terrane::runtime::shmem {

inline SymmetricAddress operator+(SymmetricAddress place, std::uint64_t bytes) {
  return {place.part, place.offset + bytes};
}

// The symmetric place of an argument. If there are no bytes, any place. If the argument is not
// symmetric, the job ends.
inline SymmetricAddress symmetric(Team& team, const void* address, std::uint64_t bytes,
                                  const char* argument) {
  auto place = team.world().memory().locate(address, bytes);
  if (!place && bytes == 0) return {};
  if (!place) {
    team.world().fail(fmt::format(
        "a collective operation's {} at {} with {} bytes is not symmetric: use memory of "
        "shmem_malloc that is large enough, or a static variable",
        argument, address, bytes));
  }
  return *place;
}

// Calls visit(member) for all members, beginning with our neighbour and ending with ourselves, so
// that not all PEs access the same member first.
template <typename Visit>
void for_each_member(const Team& team, Visit visit) {
  for (std::uint32_t step = 1; step <= team.size(); ++step) {
    visit((team.self() + step) % team.size());
  }
}

inline void move_bytes(void* to, const void* from, std::uint64_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

}  // namespace terrane::runtime::shmem
