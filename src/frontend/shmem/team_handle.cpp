#include "frontend/shmem/team_handle.h"

#include <algorithm>

#include "base/log.h"
#include "frontend/shmem/call_place.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/lifetime.h"
#include "frontend/shmem/process.h"

namespace terrane::frontend::shmem {

using runtime::shmem::Team;
using runtime::shmem::Teams;
using runtime::shmem::TeamShape;

Teams& teams_for(const char* call) noexcept {
  Lifetime& process = Lifetime::of_process();
  if (!process.is_initialised()) process.fail_outside(call);
  process.world()->meet();
  return process.teams();
}

Team* team_of(shmem_team_t handle, const char* call) noexcept {
  Teams& teams = teams_for(call);
  if (handle == SHMEM_TEAM_INVALID) return nullptr;
  if (handle == SHMEM_TEAM_WORLD) return &teams.world_team();
  if (handle == SHMEM_TEAM_SHARED) return &teams.shared_team();
  if (Team* team = teams.named(reinterpret_cast<std::uintptr_t>(handle))) return team;
  fail(call, "team is no team of this PE, or was destroyed; make it by shmem_team_split_strided");
}

Team& team_for(shmem_team_t handle, const char* call) noexcept {
  if (Team* team = team_of(handle, call)) return *team;
  fail(call, "team is SHMEM_TEAM_INVALID; only members of a team may call this");
}

shmem_team_t handle_of(const Team* team) noexcept {
  return reinterpret_cast<shmem_team_t>(team == nullptr ? 0 : std::uintptr_t{team->name});
}

void compare_call(Team& team, const char* call, const char* kind, std::uint64_t bytes,
                  std::uint64_t root, const void* dest, const void* source,
                  const char* type) noexcept {
  if (!checks_calls()) return;
  auto offset = [&](const void* address) {
    if (address == nullptr && bytes == 0) return Team::Call::kAnywhere;
    auto place = team.world().memory().locate(address, 1);
    return place ? place->offset : 0;
  };
  team.begin_call({call, kind, type, bytes, root, offset(dest), offset(source)});
}

void compare_memory_call(const char* call, const char* kind, std::uint64_t bytes,
                         std::uint64_t alignment, std::uint64_t block) noexcept {
  if (!checks_calls()) return;
  Team::Call ours{.name = call, .kind = kind, .bytes = bytes, .dest = block + 1};
  ours.alignment = std::max<std::uint64_t>(alignment, 1);
  Lifetime::of_process().teams().world_team().begin_call(ours);
}

Team* active_set(const char* call, int start, int log_stride, int size) noexcept {
  Teams& teams = teams_for(call);
  std::int64_t pes = teams.world_team().size();
  bool is_set = start >= 0 && start < pes && size > 0 && size <= pes && log_stride >= 0 &&
                log_stride < 31 && start + (std::int64_t{size} - 1) * (1ll << log_stride) < pes;
  if (!is_set) {
    fail(call, fmt::format("PE_start {}, logPE_stride {}, PE_size {} name PEs that do not exist; "
                           "the job has the PEs 0 to {}",
                           start, log_stride, size, pes - 1));
  }
  // Sets of one PE are the same whatever their stride, which may be larger than any number of PEs.
  TeamShape shape{static_cast<std::uint32_t>(start), size == 1 ? 1 : 1 << log_stride,
                  static_cast<std::uint32_t>(size)};
  if (shape.member(teams.world_team().world().self()) < 0) {
    if (checks_calls())
      base::log(
          "{}: PE_start {}, logPE_stride {}, PE_size {}: this PE is not in that active set; "
          "the call does nothing{}",
          call, start, log_stride, size, place_of_call());
    return nullptr;
  }
  return &teams.active_set(shape);
}

}  // namespace terrane::frontend::shmem
