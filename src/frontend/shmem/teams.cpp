// Teams: the specification's section "Team Management Routines".
#include "frontend/shmem/call_times.h"
#include "frontend/shmem/contexts.h"
#include "frontend/shmem/process.h"
#include "frontend/shmem/team_handle.h"

namespace {

using terrane::frontend::shmem::CallKind;
using terrane::frontend::shmem::Contexts;
using terrane::frontend::shmem::fail;
using terrane::frontend::shmem::handle_of;
using terrane::frontend::shmem::team_for;
using terrane::frontend::shmem::team_of;
using terrane::frontend::shmem::teams_for;
using terrane::frontend::shmem::Timed;
using terrane::runtime::shmem::Team;
using terrane::runtime::shmem::Teams;

void configure(Team* team, const shmem_team_config_t* config, long mask) {
  bool told = config != nullptr && (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0;
  if (team != nullptr && told) team->num_contexts = config->num_contexts;
}

}  // namespace

extern "C" {

int shmem_team_my_pe(shmem_team_t handle) noexcept {
  Team* team = team_of(handle, "shmem_team_my_pe");
  return team == nullptr ? -1 : static_cast<int>(team->self());
}

int shmem_team_n_pes(shmem_team_t handle) noexcept {
  Team* team = team_of(handle, "shmem_team_n_pes");
  return team == nullptr ? -1 : static_cast<int>(team->size());
}

int shmem_team_get_config(shmem_team_t handle, long config_mask,
                          shmem_team_config_t* config) noexcept {
  Team* team = team_of(handle, "shmem_team_get_config");
  if (team == nullptr) return 1;
  if (config != nullptr && (config_mask & SHMEM_TEAM_NUM_CONTEXTS) != 0) {
    config->num_contexts = team->num_contexts;
  }
  return 0;
}

int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) noexcept {
  Team* from = team_of(src_team, "shmem_team_translate_pe");
  Team* to = team_of(dest_team, "shmem_team_translate_pe");
  if (from == nullptr || to == nullptr || src_pe < 0) return -1;
  auto member = static_cast<std::uint32_t>(src_pe);
  return member < from->size() ? static_cast<int>(to->shape().member(from->pe(member))) : -1;
}

int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t* config, long config_mask,
                             shmem_team_t* new_team) noexcept {
  constexpr const char* kCall = "shmem_team_split_strided";
  Timed timed(CallKind::kCollective, kCall);
  *new_team = SHMEM_TEAM_INVALID;
  Team* parent = team_of(parent_team, kCall);
  if (parent == nullptr) return 1;
  Teams::Split split = teams_for(kCall).split_strided(*parent, start, stride, size);
  configure(split.team, config, config_mask);
  *new_team = handle_of(split.team);
  return split.made ? 0 : 1;
}

int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
                        const shmem_team_config_t* xaxis_config, long xaxis_mask,
                        shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config,
                        long yaxis_mask, shmem_team_t* yaxis_team) noexcept {
  constexpr const char* kCall = "shmem_team_split_2d";
  Timed timed(CallKind::kCollective, kCall);
  *xaxis_team = *yaxis_team = SHMEM_TEAM_INVALID;
  Team* parent = team_of(parent_team, kCall);
  if (parent == nullptr) return 1;
  Teams::Split2d split = teams_for(kCall).split_2d(*parent, xrange);
  configure(split.x, xaxis_config, xaxis_mask);
  configure(split.y, yaxis_config, yaxis_mask);
  *xaxis_team = handle_of(split.x);
  *yaxis_team = handle_of(split.y);
  return split.made ? 0 : 1;
}

void shmem_team_destroy(shmem_team_t handle) noexcept {
  constexpr const char* kCall = "shmem_team_destroy";
  Timed timed(CallKind::kCollective, kCall);
  Team* team = team_of(handle, kCall);
  if (team == nullptr) return;
  if (handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED) {
    fail(kCall, "SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED live as long as the program");
  }
  team->reach().quiet();
  Contexts::of_process().destroy_those_of(handle);
  teams_for(kCall).destroy(*team);
}

void* shmem_team_ptr(shmem_team_t handle, const void* dest, int pe) noexcept {
  Team* team = team_of(handle, "shmem_team_ptr");
  if (team == nullptr) return nullptr;
  if (pe < 0 || static_cast<std::uint32_t>(pe) >= team->size()) {
    fail("shmem_team_ptr",
         fmt::format("PE {} does not exist; the team has the PEs 0 to {}", pe, team->size() - 1));
  }
  const auto& memory = team->world().memory();
  auto place = memory.locate(dest, 1);
  return place ? memory.at(team->pe(static_cast<std::uint32_t>(pe)), *place) : nullptr;
}

}  // extern "C"
