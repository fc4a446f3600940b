// Barriers and synchronisation of teams, of all PEs and of active sets.
#include "frontend/shmem/team_handle.h"

using terrane::frontend::shmem::active_set;
using terrane::frontend::shmem::team_for;
using terrane::frontend::shmem::teams_for;
using terrane::runtime::shmem::Team;

namespace {

void barrier(Team& team) {
  team.reach().quiet();
  team.sync();
}

}  // namespace

extern "C" {

void shmem_barrier_all() noexcept { barrier(teams_for("shmem_barrier_all").world_team()); }

void shmem_sync_all() noexcept { teams_for("shmem_sync_all").world_team().sync(); }

int shmem_team_sync(shmem_team_t team) noexcept {
  team_for(team, "shmem_team_sync").sync();
  return 0;
}

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long*) noexcept {
  barrier(active_set("shmem_barrier", PE_start, logPE_stride, PE_size));
}

void shmem_sync(int PE_start, int logPE_stride, int PE_size, long*) noexcept {
  active_set("shmem_sync", PE_start, logPE_stride, PE_size).sync();
}

}  // extern "C"
