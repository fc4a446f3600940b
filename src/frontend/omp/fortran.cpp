// The functions of api.h as Fortran calls them: arguments by address, of 4 bytes or of 8.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "frontend/omp/api.h"

namespace {

// A number of 8 bytes for a function that takes 4: no level or count is as large as that.
int narrow(std::int64_t value) {
  return static_cast<int>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
}

}  // namespace

extern "C" {

#define TERRANE_GIVES(type, name) \
  type name##_() { return name(); }
#define TERRANE_TAKES(name)                                 \
  void name##_(const std::int32_t* value) { name(*value); } \
  void name##_8_(const std::int64_t* value) { name(narrow(*value)); }
#define TERRANE_ASKS(name)                                        \
  int name##_(const std::int32_t* value) { return name(*value); } \
  int name##_8_(const std::int64_t* value) { return name(narrow(*value)); }

TERRANE_TAKES(omp_set_num_threads)
TERRANE_TAKES(omp_set_max_active_levels)
TERRANE_TAKES(omp_set_default_device)
TERRANE_TAKES(omp_set_num_teams)
TERRANE_TAKES(omp_set_teams_thread_limit)
TERRANE_ASKS(omp_get_ancestor_thread_num)
TERRANE_ASKS(omp_get_team_size)
TERRANE_GIVES(int, omp_get_num_threads)
TERRANE_GIVES(int, omp_get_max_threads)
TERRANE_GIVES(int, omp_get_thread_num)
TERRANE_GIVES(int, omp_get_num_procs)
TERRANE_GIVES(int, omp_in_parallel)
TERRANE_GIVES(int, omp_get_dynamic)
TERRANE_GIVES(int, omp_get_nested)
TERRANE_GIVES(double, omp_get_wtime)
TERRANE_GIVES(double, omp_get_wtick)
TERRANE_GIVES(int, omp_get_thread_limit)
TERRANE_GIVES(int, omp_get_max_active_levels)
TERRANE_GIVES(int, omp_get_supported_active_levels)
TERRANE_GIVES(int, omp_get_level)
TERRANE_GIVES(int, omp_get_active_level)
TERRANE_GIVES(int, omp_in_final)
TERRANE_GIVES(int, omp_in_explicit_task)
TERRANE_GIVES(int, omp_get_cancellation)
TERRANE_GIVES(int, omp_get_proc_bind)
TERRANE_GIVES(int, omp_get_num_places)
TERRANE_GIVES(int, omp_get_place_num)
TERRANE_GIVES(int, omp_get_partition_num_places)
TERRANE_GIVES(int, omp_get_default_device)
TERRANE_GIVES(int, omp_get_num_devices)
TERRANE_GIVES(int, omp_get_device_num)
TERRANE_GIVES(int, omp_get_num_teams)
TERRANE_GIVES(int, omp_get_team_num)
TERRANE_GIVES(int, omp_is_initial_device)
TERRANE_GIVES(int, omp_get_initial_device)
TERRANE_GIVES(int, omp_get_max_task_priority)
TERRANE_GIVES(int, omp_get_max_teams)
TERRANE_GIVES(int, omp_get_teams_thread_limit)
TERRANE_GIVES(std::size_t, omp_get_default_allocator)

void omp_set_dynamic_(const std::int32_t* is_on) { omp_set_dynamic(*is_on); }
void omp_set_dynamic_8_(const std::int64_t* is_on) { omp_set_dynamic(*is_on != 0 ? 1 : 0); }
void omp_set_nested_(const std::int32_t* is_on) { omp_set_nested(*is_on); }
void omp_set_nested_8_(const std::int64_t* is_on) { omp_set_nested(*is_on != 0 ? 1 : 0); }

void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}
void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), narrow(*chunk));
}
void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  unsigned found = 0;
  omp_get_schedule(&found, chunk);
  *kind = static_cast<std::int32_t>(found);
}
void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  std::int32_t narrow = 0;
  omp_get_schedule_(kind, &narrow);
  *chunk = narrow;
}

TERRANE_ASKS(omp_get_place_num_procs)
void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  omp_get_place_proc_ids(*place, ids);
}
void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* ids) {
  auto number = static_cast<int>(*place);
  std::vector<int> found(static_cast<std::size_t>(omp_get_place_num_procs(number)));
  omp_get_place_proc_ids(number, found.data());
  std::copy(found.begin(), found.end(), ids);
}
void omp_get_partition_place_nums_(std::int32_t* places) { omp_get_partition_place_nums(places); }
void omp_get_partition_place_nums_8_(std::int64_t* places) {
  std::vector<int> found(static_cast<std::size_t>(omp_get_partition_num_places()));
  omp_get_partition_place_nums(found.data());
  std::copy(found.begin(), found.end(), places);
}
int omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}
int omp_pause_resource_all_(const std::int32_t* kind) { return omp_pause_resource_all(*kind); }
void omp_set_default_allocator_(const std::size_t* allocator) {
  omp_set_default_allocator(*allocator);
}
void omp_display_env_(const std::int32_t* verbose) { omp_display_env(*verbose); }
void omp_display_env_8_(const std::int64_t* verbose) { omp_display_env(*verbose != 0 ? 1 : 0); }

}  // extern "C"
