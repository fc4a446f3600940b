#include "frontend/shmem/collective_call.h"

#include <algorithm>
#include <tuple>

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/checks.h"

namespace terrane::frontend::shmem {

std::uint64_t bytes_of(const char* call, std::size_t elements, std::size_t element_bytes) noexcept {
  std::uint64_t bytes = 0;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 47;  // there are no more addresses
  if (!__builtin_mul_overflow(elements, element_bytes, &bytes) && bytes < kMost) return bytes;
  fail(call,
       fmt::format("{} elements of {} bytes are more than any memory", elements, element_bytes));
}

void check_arrays(Team& team, const char* call, const void* dest, std::uint64_t dest_bytes,
                  const void* source, std::uint64_t source_bytes, bool in_place) noexcept {
  if (!checks_calls()) return;
  for (auto [name, address, bytes] :
       {std::tuple{"dest", dest, dest_bytes}, {"source", source, source_bytes}})
    if (address == nullptr && bytes != 0)
      fail(call, fmt::format("{} is a null pointer, and {} bytes are needed there", name, bytes));
  if (dest_bytes == 0 || source_bytes == 0) return;
  auto to = reinterpret_cast<std::uintptr_t>(dest), from = reinterpret_cast<std::uintptr_t>(source);
  bool apart = to + dest_bytes <= from || from + source_bytes <= to;
  if (apart || (in_place && to == from)) return;
  fail(call, fmt::format("dest at {} and source at {} overlap in memory (team of {} PEs); {}", dest,
                         source, team.size(),
                         in_place ? "they must be the same or lie apart" : "they must lie apart"));
}

void collect(Team& team, const char* call, void* dest, const void* source,
             std::uint64_t bytes) noexcept {
  Timed timed(CallKind::kCollective, call);
  // A PE that gives nothing need not say where.
  compare_call(team, call, "collect", 0, 0, dest, bytes == 0 ? nullptr : source);
  check_arrays(team, call, dest, bytes, source, bytes, false);
  runtime::shmem::collect(team, dest, source, bytes);
}

void fcollect(Team& team, const char* call, void* dest, const void* source,
              std::uint64_t bytes) noexcept {
  Timed timed(CallKind::kCollective, call);
  compare_call(team, call, "fcollect", bytes, 0, dest, source);
  check_arrays(team, call, dest, bytes * team.size(), source, bytes, false);
  runtime::shmem::fcollect(team, dest, source, bytes);
}

void alltoall(Team& team, const char* call, void* dest, const void* source,
              std::uint64_t bytes) noexcept {
  Timed timed(CallKind::kCollective, call);
  compare_call(team, call, "alltoall", bytes, 0, dest, source);
  check_arrays(team, call, dest, bytes * team.size(), source, bytes * team.size(), false);
  runtime::shmem::alltoall(team, dest, source, bytes);
}

void broadcast(Team& team, const char* call, void* dest, const void* source, std::uint64_t bytes,
               int root, bool root_too) noexcept {
  Timed timed(CallKind::kCollective, call);
  if (root < 0 || static_cast<std::uint32_t>(root) >= team.size()) {
    fail(call, fmt::format("PE_root {} does not exist; these are the PEs 0 to {} of the team", root,
                           team.size() - 1));
  }
  compare_call(team, call, "broadcast", bytes, static_cast<std::uint64_t>(root), dest, source);
  check_arrays(team, call, dest, bytes, source, bytes, true);
  runtime::shmem::broadcast(team, dest, source, bytes, static_cast<std::uint32_t>(root), root_too);
}

void alltoalls(Team& team, const char* call, void* dest, const void* source, std::ptrdiff_t dst,
               std::ptrdiff_t sst, std::size_t elements, std::size_t element_bytes) noexcept {
  Timed timed(CallKind::kCollective, call);
  if (elements != 0 && (dst < 1 || sst < 1)) {
    fail(call, fmt::format("the strides dst {} and sst {} must be 1 or more", dst, sst));
  }
  std::uint64_t bytes = bytes_of(call, elements, element_bytes);
  if (bytes != 0) bytes_of(call, bytes * team.size(), static_cast<std::size_t>(std::max(dst, sst)));
  compare_call(team, call, "alltoalls", bytes, 0, dest, source);
  check_arrays(team, call, dest, std::min<std::uint64_t>(bytes, 1), source,
               std::min<std::uint64_t>(bytes, 1), false);
  runtime::shmem::alltoalls(team, dest, source,
                            {static_cast<std::uint64_t>(dst), static_cast<std::uint64_t>(sst)},
                            elements, element_bytes);
}

}  // namespace terrane::frontend::shmem
