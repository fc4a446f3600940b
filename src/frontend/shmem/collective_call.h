#pragma once

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/process.h"
#include "frontend/shmem/team_handle.h"
#include "runtime/shmem/collectives.h"

// What the collective functions have in common: arguments in elements are checked and become
// arguments in bytes. `call` is the function that the program called.
namespace terrane::frontend::shmem {

using runtime::shmem::ReduceOp;
using runtime::shmem::Team;

// The bytes of so many elements; more than there can be end the job.
std::uint64_t bytes_of(const char* call, std::size_t elements, std::size_t element_bytes) noexcept;

// Where calls are checked: dest and source must be there where they have bytes, and not overlap;
// where `in_place`, they may be the same.
void check_arrays(Team& team, const char* call, const void* dest, std::uint64_t dest_bytes,
                  const void* source, std::uint64_t source_bytes, bool in_place) noexcept;

void collect(Team& team, const char* call, void* dest, const void* source,
             std::uint64_t bytes) noexcept;
void fcollect(Team& team, const char* call, void* dest, const void* source,
              std::uint64_t bytes) noexcept;
void alltoall(Team& team, const char* call, void* dest, const void* source,
              std::uint64_t bytes) noexcept;
void broadcast(Team& team, const char* call, void* dest, const void* source, std::uint64_t bytes,
               int root, bool root_too) noexcept;
void alltoalls(Team& team, const char* call, void* dest, const void* source, std::ptrdiff_t dst,
               std::ptrdiff_t sst, std::size_t elements, std::size_t element_bytes) noexcept;

template <ReduceOp op, typename T>
void reduce(Team& team, const char* call, T* dest, const T* source, std::size_t elements) {
  Timed timed(CallKind::kCollective, call);
  constexpr const char* kKinds[] = {"and", "or", "xor", "max", "min", "sum", "prod"};
  std::uint64_t bytes = bytes_of(call, elements, sizeof(T));
  compare_call(team, call, kKinds[static_cast<std::size_t>(op)], bytes, 0, dest, source,
               runtime::shmem::name_of(runtime::shmem::element_type<T>()));
  check_arrays(team, call, dest, bytes, source, bytes, true);
  runtime::shmem::reduce(team, dest, source, elements,
                         combine_for(op, runtime::shmem::element_type<T>()));
}

template <typename T>
void scan(Team& team, const char* call, T* dest, const T* source, std::size_t elements,
          bool inclusive) {
  Timed timed(CallKind::kCollective, call);
  std::uint64_t bytes = bytes_of(call, elements, sizeof(T));
  compare_call(team, call, inclusive ? "inscan" : "exscan", bytes, 0, dest, source,
               runtime::shmem::name_of(runtime::shmem::element_type<T>()));
  check_arrays(team, call, dest, bytes, source, bytes, true);
  runtime::shmem::scan(team, dest, source, elements,
                       combine_for(ReduceOp::kSum, runtime::shmem::element_type<T>()), inclusive);
}

}  // namespace terrane::frontend::shmem
