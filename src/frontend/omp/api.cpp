// omp_*: what a program asks of its team, and sets for the next ones.
#include "frontend/omp/api.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

#include "frontend/omp/binding.h"
#include "frontend/omp/team.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

// The region at a level around the calling thread's; nullptr: there is none.
const Region* region_at(int level) {
  const Region* found = &region();
  if (level < 0 || static_cast<std::uint32_t>(level) > found->level) return nullptr;
  while (found->level > static_cast<std::uint32_t>(level)) found = found->outer;
  return found;
}

constexpr int kHostDevice = 0;  // no other device exists: the host has the first number behind them

}  // namespace

extern "C" {

void omp_set_num_threads(int count) {
  controls().threads = static_cast<std::uint32_t>(std::max(count, 1));
}

int omp_get_num_threads() { return static_cast<int>(region().size); }

int omp_get_max_threads() {
  std::uint32_t threads = controls().threads;
  if (threads == 0) threads = terrane_program_places();
  return static_cast<int>(std::min(threads, controls().thread_limit));
}

int omp_get_thread_num() { return static_cast<int>(region().number); }

int omp_get_num_procs() { return static_cast<int>(terrane_program_places()); }

int omp_in_parallel() { return region().active_level > 0 ? 1 : 0; }

void omp_set_dynamic(int is_on) { controls().is_dynamic = is_on != 0 ? 1 : 0; }

int omp_get_dynamic() { return static_cast<int>(controls().is_dynamic); }

// What the newer control variable says: on is as many levels as there can be, unless it says some.
void omp_set_nested(int is_on) {
  Controls& own = controls();
  if (is_on != 0 && own.max_active_levels <= 1) own.max_active_levels = kMostLevels;
  if (is_on == 0 && own.max_active_levels > 1) own.max_active_levels = 1;
}

int omp_get_nested() {
  std::uint32_t levels = controls().max_active_levels;
  return levels > 1 && levels > region().active_level ? 1 : 0;
}

double omp_get_wtime() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double omp_get_wtick() { return 1e-9; }

void omp_set_schedule(unsigned kind, int chunk) {
  unsigned plain = kind & ~kMonotonic;
  if (plain < 1 || plain > 4) return;
  Controls& own = controls();
  own.schedule = static_cast<Schedule>(plain);
  own.schedule_flags = kind & kMonotonic;
  own.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  if (chunk < 1 && own.schedule != Schedule::kStatic) own.chunk = 1;
}

void omp_get_schedule(unsigned* kind, int* chunk) {
  const Controls& own = controls();
  *kind = static_cast<unsigned>(own.schedule) | own.schedule_flags;
  *chunk = static_cast<int>(own.chunk);
}

int omp_get_thread_limit() { return static_cast<int>(controls().thread_limit); }

void omp_set_max_active_levels(int levels) {
  if (levels < 0) return;
  controls().max_active_levels = std::min(static_cast<std::uint32_t>(levels), kMostLevels);
}

int omp_get_max_active_levels() { return static_cast<int>(controls().max_active_levels); }

int omp_get_supported_active_levels() { return static_cast<int>(kMostLevels); }

int omp_get_level() { return static_cast<int>(region().level); }

int omp_get_active_level() { return static_cast<int>(region().active_level); }

int omp_get_ancestor_thread_num(int level) {
  const Region* found = region_at(level);
  return found == nullptr ? -1 : static_cast<int>(found->number);
}

int omp_get_team_size(int level) {
  const Region* found = region_at(level);
  return found == nullptr ? -1 : static_cast<int>(found->size);
}

int omp_in_final() { return this_thread().final_tasks != 0 ? 1 : 0; }

int omp_in_explicit_task() { return this_thread().explicit_tasks != 0 ? 1 : 0; }

int omp_get_cancellation() { return 0; }

int omp_get_proc_bind() { return static_cast<int>(next_bind()); }

int omp_get_num_places() { return static_cast<int>(places_of_all()); }

int omp_get_place_num_procs(int place) {
  const cpu_set_t* set = place_at(place);
  return set == nullptr ? 0 : CPU_COUNT(set);
}

void omp_get_place_proc_ids(int place, int* ids) {
  const cpu_set_t* set = place_at(place);
  for (int i = 0; set != nullptr && i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, set)) *ids++ = i;
}

int omp_get_place_num() { return own_place(); }

int omp_get_partition_num_places() {
  std::uint32_t first = 0, count = 0;
  own_partition(first, count);
  return static_cast<int>(count);
}

void omp_get_partition_place_nums(int* places) {
  std::uint32_t first = 0, count = 0;
  own_partition(first, count);
  for (std::uint32_t i = 0; i < count; ++i) places[i] = static_cast<int>(first + i);
}

void omp_set_default_device(int device) { controls().default_device = std::max(device, 0); }

int omp_get_default_device() { return controls().default_device; }

int omp_get_num_devices() { return 0; }

int omp_get_device_num() { return kHostDevice; }

int omp_get_num_teams() { return this_thread().teams; }

int omp_get_team_num() { return this_thread().team_number; }

int omp_is_initial_device() { return 1; }

int omp_get_initial_device() { return kHostDevice; }

int omp_get_max_task_priority() { return static_cast<int>(environment().max_priority); }

void omp_set_num_teams(int count) { controls().max_teams = std::max(count, 0); }

int omp_get_max_teams() { return controls().max_teams; }

void omp_set_teams_thread_limit(int count) { controls().teams_thread_limit = std::max(count, 0); }

int omp_get_teams_thread_limit() { return controls().teams_thread_limit; }

int omp_pause_resource(int, int) { return -1; }

int omp_pause_resource_all(int) { return -1; }

void omp_set_default_allocator(std::size_t allocator) {
  controls().default_allocator = allocator == 0 ? 1 : allocator;
}

std::size_t omp_get_default_allocator() { return controls().default_allocator; }

void omp_display_env(int) {
  static const char* const kKinds[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
  const Controls& own = environment().controls;
  std::fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n");
  std::fprintf(stderr, "  [host] OMP_DYNAMIC = '%s'\n", own.is_dynamic != 0 ? "TRUE" : "FALSE");
  std::fprintf(stderr, "  [host] OMP_NUM_THREADS = '%d", omp_get_max_threads());
  const std::vector<std::uint32_t>& threads = environment().threads;
  for (std::size_t i = 1; i < threads.size(); ++i) std::fprintf(stderr, ",%u", threads[i]);
  std::fprintf(stderr, "'\n");
  std::fprintf(stderr, "  [host] OMP_SCHEDULE = '%s,%llu'\n",
               kKinds[static_cast<unsigned>(own.schedule)],
               static_cast<unsigned long long>(own.chunk));
  std::fprintf(stderr, "  [host] OMP_THREAD_LIMIT = '%u'\n", own.thread_limit);
  std::fprintf(stderr, "  [host] OMP_MAX_ACTIVE_LEVELS = '%u'\n", own.max_active_levels);
  std::fprintf(stderr, "  [host] OMP_MAX_TASK_PRIORITY = '%u'\n", environment().max_priority);
  static const char* const kBinds[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
  std::fprintf(stderr, "  [host] OMP_PROC_BIND = '");
  for (std::size_t i = 0; i < std::max<std::size_t>(environment().binds.size(), 1); ++i)
    std::fprintf(
        stderr, "%s%s", i == 0 ? "" : ",",
        kBinds[static_cast<unsigned>(environment().bind_at(static_cast<std::uint32_t>(i)))]);
  std::fprintf(stderr, "'\n  [host] OMP_PLACES = '%s'\n", environment().places.c_str());
  std::fprintf(stderr, "  [host] OMP_STACKSIZE = '%zu'\n", environment().stack_bytes);
  std::fprintf(stderr, "  [host] OMP_DISPLAY_AFFINITY = '%s'\n",
               environment().shows_affinity != 0 ? "TRUE" : "FALSE");
  std::fprintf(stderr, "  [host] OMP_CANCELLATION = 'FALSE'\n");
  std::fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

}  // extern "C"
