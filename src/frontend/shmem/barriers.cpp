// Barriers and synchronisation of teams, of all PEs and of active sets.
#include "frontend/shmem/call_times.h"
#include "frontend/shmem/process.h"
#include "frontend/shmem/team_handle.h"

using terrane::frontend::shmem::active_set;
using terrane::frontend::shmem::CallKind;
using terrane::frontend::shmem::compare_call;
using terrane::frontend::shmem::team_for;
using terrane::frontend::shmem::teams_for;
using terrane::frontend::shmem::Timed;
using terrane::frontend::shmem::world;
using terrane::runtime::shmem::Team;

namespace {

void sync(Team& team, const char* call) {
  Timed timed(CallKind::kCollective, call);
  compare_call(team, call, "sync");
  team.sync();
}

// A sync that others make in its place would not wait for what they have put.
void barrier(Team& team, const char* call) {
  Timed timed(CallKind::kCollective, call);
  team.reach().quiet();
  compare_call(team, call, "barrier");
  team.sync();
}

}  // namespace

extern "C" {

void shmem_barrier_all() noexcept {
  constexpr const char* kCall = "shmem_barrier_all";
  Team& team = teams_for(kCall).world_team();
  world()->meet();
  barrier(team, kCall);
}

void shmem_sync_all() noexcept {
  constexpr const char* kCall = "shmem_sync_all";
  Team& team = teams_for(kCall).world_team();
  world()->meet();
  sync(team, kCall);
}

int shmem_team_sync(shmem_team_t team) noexcept {
  Team& members = team_for(team, "shmem_team_sync");
  world()->meet();
  sync(members, "shmem_team_sync");
  return 0;
}

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long*) noexcept {
  if (Team* members = active_set("shmem_barrier", PE_start, logPE_stride, PE_size))
    barrier(*members, "shmem_barrier");
}

void shmem_sync(int PE_start, int logPE_stride, int PE_size, long*) noexcept {
  if (Team* members = active_set("shmem_sync", PE_start, logPE_stride, PE_size))
    sync(*members, "shmem_sync");
}

}  // extern "C"
