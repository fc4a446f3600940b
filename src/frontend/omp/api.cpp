// omp_*: what a program asks of its team, and sets for the next ones.
#include "frontend/omp/api.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

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

// One level of regions is active: those within it have one thread.
void omp_set_nested(int) {}

int omp_get_nested() { return 0; }

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
  if (levels >= 0) controls().max_active_levels = std::min(levels, 1);
}

int omp_get_max_active_levels() { return static_cast<int>(controls().max_active_levels); }

int omp_get_supported_active_levels() { return 1; }

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

// Threads are not bound, and there are no places in OpenMP's sense.
int omp_get_proc_bind() { return 0; }

int omp_get_num_places() { return 0; }

int omp_get_place_num_procs(int) { return 0; }

void omp_get_place_proc_ids(int, int*) {}

int omp_get_place_num() { return -1; }

int omp_get_partition_num_places() { return 0; }

void omp_get_partition_place_nums(int*) {}

void omp_set_default_device(int device) { controls().default_device = std::max(device, 0); }

int omp_get_default_device() { return controls().default_device; }

int omp_get_num_devices() { return 0; }

int omp_get_device_num() { return kHostDevice; }

int omp_get_num_teams() { return this_thread().teams; }

int omp_get_team_num() { return this_thread().team_number; }

int omp_is_initial_device() { return 1; }

int omp_get_initial_device() { return kHostDevice; }

int omp_get_max_task_priority() { return 0; }

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
  std::fprintf(stderr, "  [host] OMP_NUM_THREADS = '%d'\n", omp_get_max_threads());
  std::fprintf(stderr, "  [host] OMP_SCHEDULE = '%s,%llu'\n",
               kKinds[static_cast<unsigned>(own.schedule)],
               static_cast<unsigned long long>(own.chunk));
  std::fprintf(stderr, "  [host] OMP_THREAD_LIMIT = '%u'\n", own.thread_limit);
  std::fprintf(stderr, "  [host] OMP_MAX_ACTIVE_LEVELS = '%u'\n", own.max_active_levels);
  std::fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

}  // extern "C"
