#include "frontend/omp/team.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "frontend/omp/api.h"
#include "frontend/omp/binding.h"
#include "frontend/omp/job_team.h"
#include "frontend/omp/node_team.h"
#include "frontend/omp/reductions.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"
#include "platform/floating_point.h"

namespace terrane::frontend::omp {
namespace {

constexpr unsigned kProcBindBits = 7;  // of the flags of a region

// A region that the calling thread has begun and not ended, and what the thread was before.
struct Started {
  Region region;
  NodeTeam* node_team;  // nullptr: its team is one of the job, or it has none
  Region* around;
  Controls controls;
  Seat seat;
  Frame frame;  // where tasks within it are not those of the task around it
  bool has_frame;
  std::uint32_t task_number;
  Group* group;    // of the task around the region
  Function* name;  // of a team of the job
};

// What other threads use of the caller's frames may lie in a synchronisation page: an atomic
// operation on one variable is enough. So what this thread stores to its stack in the region is on
// other pages.
[[gnu::noinline]] void run_on_pages_of_its_own(Function* function, void* data) {
  constexpr std::uintptr_t kFrame = 128;  // at most so much lies between the address and the room
  auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  void* room = __builtin_alloca(here % terrane_program_page_bytes() + kFrame);
  asm volatile("" : : "r"(room) : "memory");
  function(data);
}

void run(const Started& started, Function* function, void* data) {
  if (started.node_team == nullptr && started.region.size > 1)
    run_on_pages_of_its_own(function, data);
  else
    function(data);
}

void enter_alone(Started& started, unsigned flags) {
  Thread& me = this_thread();
  if (begins_job_team()) {
    share_places();
    take_seat(bind_of_region(flags & kProcBindBits), 0, 1, 1, whole_node());
  }
  me.controls = controls_within(flags);
  Region& outer = region();
  started.region = make_region(&outer, 0, 1);
  started.region.local = outer.local;
  started.region.tasks = outer.tasks;
  started.region.report = outer.report;
  me.region = &started.region;
}

void enter(Started& started, const Parallel& parallel, Group* group = nullptr) {
  Thread& me = this_thread();
  std::uint32_t size = next_team_size(parallel.wanted);
  bool is_of_job = size > 1 && begins_job_team();
  started.node_team = is_of_job || size == 1 ? nullptr : take_node_team(size);
  started.controls = controls();
  started.group = std::exchange(me.group, group);
  started.around = me.region;
  started.task_number = begin_task_number();
  started.seat = own_seat();
  started.has_frame = !is_of_job || is_in_task();
  if (started.has_frame) enter_implicit_task(started.frame);
  started.name = parallel.name == nullptr ? parallel.function : parallel.name;
  if (is_of_job) {
    fork_job(parallel, size, started.region);
  } else if (started.node_team != nullptr) {
    fork_node(*started.node_team, parallel, started.region);
  } else {
    enter_alone(started, parallel.flags);
  }
  if (parallel.begin != nullptr) begin_work(parallel.begin->range, parallel.begin->plan);
}

void leave(Started& started) {
  Thread& me = this_thread();
  await_all_tasks();
  me.region = started.around;
  if (started.node_team != nullptr) {
    join_node(*started.node_team);
    return_to_seat(started.seat);
  } else if (started.region.team != nullptr) {
    join_job(started.region, started.name);
  }
  if (started.has_frame) leave_task(started.frame);
  me.task_number = started.task_number;
  me.controls = started.controls;
  me.group = started.group;
}

// Of regions that were begun by start_region: at most kMostStarted within each other.
constexpr std::uint32_t kMostStarted = 16;
thread_local Started started_regions[kMostStarted];
thread_local std::uint32_t started_count = 0;

// Of a region whose size nobody has given.
std::uint32_t usual_team_size() {
  std::uint32_t places = terrane_program_places();
  return begins_job_team() ? places : share(places, terrane_program_node());
}

}  // namespace

thread_local constinit Thread own_thread;
thread_local constinit Region implicit_region;

Controls& controls() {
  Thread& me = this_thread();
  if (!me.has_controls) {
    me.controls = environment().controls;
    me.has_controls = true;
    if (environment().shows != 0 && terrane_program_is_main()) omp_display_env(0);
  }
  return me.controls;
}

Controls controls_within(unsigned flags) {
  Controls within = controls();
  within.bind = bind_within(flags & kProcBindBits);
  environment().set_threads_at(region().level + 1, within);
  return within;
}

void describe(const Parallel& parallel, Part& part) {
  const Thread& me = this_thread();
  part.function = parallel.function;
  part.data = parallel.data;
  part.controls = controls_within(parallel.flags);
  part.has_begin = parallel.begin != nullptr ? 1 : 0;
  if (parallel.begin != nullptr) part.begin = *parallel.begin;
  part.reductions = me.group != nullptr ? me.group->reductions : nullptr;
  part.team_number = me.team_number;
  part.teams = me.teams;
  part.floating_point = platform::floating_point::capture().control;
  part.bind = bind_of_region(parallel.flags & kProcBindBits);
}

Region make_region(Region* outer, std::uint32_t number, std::uint32_t size) {
  Region made;
  made.outer = outer;
  made.number = number;
  made.size = size;
  made.level = outer->level + 1;
  made.active_level = outer->active_level + (size > 1 ? 1 : 0);
  return made;
}

void run_part(const Part& part, Region& own, const Seat& within) {
  Thread& me = this_thread();
  me.region = &own;
  me.controls = part.controls;
  me.has_controls = true;
  begin_task_number();
  me.team_number = part.team_number;
  me.teams = part.teams;
  platform::floating_point::apply_control({part.floating_point, 0});
  take_seat(part.bind, own.local, own.threads_here, own.size, within);
  Group group{nullptr, part.reductions};
  me.group = part.reductions != nullptr ? &group : nullptr;
  if (part.has_begin != 0) begin_work(part.begin.range, part.begin.plan);
  part.function(part.data);
  await_all_tasks();
  me.region = nullptr;
}

void start_thread(std::uint32_t node, void* (*function)(void*), void* argument) {
  int error = terrane_program_thread(node, function, argument, thread_stack());
  if (error == 0) return;
  terrane_program_fail(("cannot start a thread of OpenMP: " + std::string(std::strerror(error)) +
                        "; lower OMP_NUM_THREADS")
                           .c_str());
}

std::uint32_t next_team_size(std::uint32_t wanted) {
  const Controls& own = controls();
  bool may_fork = terrane_program_has_started() && region().active_level < own.max_active_levels;
  if (!may_fork) return 1;
  std::uint32_t size = wanted != 0 ? wanted : own.threads;
  if (size == 0) size = usual_team_size();
  return std::clamp(size, 1u, own.thread_limit);
}

void run_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin,
                unsigned flags, Function* name) {
  Started started;
  enter(started, {function, data, wanted, begin, flags, name});
  run(started, function, data);
  leave(started);
}

std::uint32_t run_reducing(Function* function, void* data, std::uint32_t wanted,
                           std::uintptr_t* reductions, unsigned flags) {
  std::uint32_t size = next_team_size(wanted);
  Thread& me = this_thread();
  Group group, *around = std::exchange(me.group, &group);
  register_reductions(reductions, size);
  me.group = around;
  Started started;
  enter(started, {function, data, size, nullptr, flags}, &group);
  size = started.region.size;
  run(started, function, data);
  leave(started);
  return size;
}

void start_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin) {
  if (started_count == kMostStarted)
    terrane_program_fail("GOMP_parallel_start: more than 16 regions within each other");
  enter(started_regions[started_count++], {function, data, wanted, begin});
}

void end_region() { leave(started_regions[--started_count]); }

void team_barrier() {
  Region& own = region();
  own.without_barrier = own.singles = 0;
  await_all_tasks();
  if (own.team != nullptr) own.team->wait(own);
}

void*& copied() {
  Region& own = region();
  return own.team == nullptr ? own.copied : own.team->copied();
}

void fail_unserved(const char* name) {
  terrane_program_fail((std::string(name) +
                        " is not served on several nodes: run the program without terrane omp, or "
                        "leave this construct out")
                           .c_str());
}

}  // namespace terrane::frontend::omp
