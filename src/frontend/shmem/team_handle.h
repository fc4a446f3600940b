#pragma once

#include <shmem.h>

#include "runtime/shmem/teams.h"

namespace terrane::frontend::shmem {

// The teams of this process, for the function `call`; ends the job outside of shmem_init and
// shmem_finalize.
runtime::shmem::Teams& teams_for(const char* call) noexcept;

// The team behind a handle; nullptr for SHMEM_TEAM_INVALID. For a handle that names no team, or one
// that was destroyed, the job ends.
runtime::shmem::Team* team_of(shmem_team_t handle, const char* call) noexcept;
// The same, for a function that must have one: for SHMEM_TEAM_INVALID the job ends.
runtime::shmem::Team& team_for(shmem_team_t handle, const char* call) noexcept;
// SHMEM_TEAM_INVALID for nullptr.
shmem_team_t handle_of(const runtime::shmem::Team* team) noexcept;

// Where calls are checked, compares a collective call with those of the other members; dest and
// source may be nullptr. `type`: of the elements, where all members must give the same.
void compare_call(runtime::shmem::Team& team, const char* call, const char* kind,
                  std::uint64_t bytes = 0, std::uint64_t root = 0, const void* dest = nullptr,
                  const void* source = nullptr, const char* type = "") noexcept;
// The same, for a call by which all PEs of the job allocate, or give back, equal blocks. `block`:
// where the one that there is begins in the heap; kNoBlock: there is none.
inline constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
void compare_memory_call(const char* call, const char* kind, std::uint64_t bytes,
                         std::uint64_t alignment = 1, std::uint64_t block = kNoBlock) noexcept;

// The team of a deprecated active set; nullptr where this PE is no member, which is reported where
// calls are checked.
runtime::shmem::Team* active_set(const char* call, int start, int log_stride, int size) noexcept;

}  // namespace terrane::frontend::shmem
