#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/omp/places.h"

namespace terrane::frontend::omp {

// How iterations are dealt to threads, with the numbers of omp_sched_t.
enum class Schedule : std::uint32_t {
  kRuntime = 0,
  kStatic = 1,
  kDynamic = 2,
  kGuided = 3,
  kAuto = 4
};
inline constexpr std::uint32_t kMonotonic = 0x80000000u;  // a flag in an omp_sched_t

inline constexpr std::uint32_t kMostThreads = 1000;  // of a team: a program has at most 1,024

inline constexpr std::uint32_t kMostLevels = 255;  // of active regions, as in gcc's library

// The internal control variables of a task, which a region hands on to its threads. Plain data: it
// travels in shared memory.
struct Controls {
  std::uint32_t threads = 0;  // that a region is to have; 0: as many as there are places
  std::uint32_t is_dynamic = 0;
  std::uint32_t max_active_levels = 1;  // kMostLevels at most
  std::uint32_t thread_limit = kMostThreads;
  Schedule schedule = Schedule::kDynamic;
  std::uint32_t schedule_flags = 0;
  std::uint64_t chunk = 1;
  std::uint64_t default_allocator = 1;
  std::int32_t default_device = 0;
  std::int32_t max_teams = 0;
  std::int32_t teams_thread_limit = 0;
  std::uint32_t bind = 0;  // how the next team is bound, if a clause has said so (Bind)
};

// OMP_WAIT_POLICY. Threads of a team wait in the same way with each of them.
enum class WaitPolicy : std::uint32_t { kUnset, kActive, kPassive };

// What the environment says, which is the same on all nodes and never changes.
struct Environment {
  Controls controls;
  std::size_t stack_bytes = 0;     // of a thread; 0: the process's limit
  std::uint32_t shows = 0;         // OMP_DISPLAY_ENV
  std::uint32_t max_priority = 0;  // OMP_MAX_TASK_PRIORITY
  // OMP_NUM_THREADS, for regions of level 0, 1, ... Empty: not set.
  std::vector<std::uint32_t> threads;
  // OMP_PROC_BIND, for regions of level 0, 1, ...; the last one for all others. Empty: not set.
  std::vector<Bind> binds;
  std::string places;  // OMP_PLACES
  bool has_places = false;
  std::uint32_t shows_affinity = 0;  // OMP_DISPLAY_AFFINITY
  std::string affinity_format;       // OMP_AFFINITY_FORMAT
  std::uint32_t needs_device = 0;    // OMP_TARGET_OFFLOAD=mandatory
  WaitPolicy wait_policy = WaitPolicy::kUnset;

  // Whether threads of a team are bound, and those of a region at a level how.
  bool binds_threads() const;
  Bind bind_at(std::uint32_t level) const;
  // Where it says how many threads regions at a level have, the control variable says it, too.
  void set_threads_at(std::uint32_t level, Controls& controls) const;
};

// Read once. A variable that is wrong ends the program with a sentence.
const Environment& environment();

// Sets what settings of that form say: OMP_NUM_THREADS=4|OMP_DYNAMIC=true. Names that say nothing
// of control variables, or of the stacks of threads, have no effect. A wrong value ends the program
// with a sentence.
void set_defaults(std::string_view settings, Controls& controls);

inline constexpr std::size_t kLeastStackBytes = std::size_t{64} << 10;
// The stacks of the threads that this node starts from now on: at first what the environment says.
void set_thread_stack(std::size_t bytes);
std::size_t thread_stack();      // 0: the process's limit
std::size_t stack_of_threads();  // that limit then; SIZE_MAX where there is none

}  // namespace terrane::frontend::omp
