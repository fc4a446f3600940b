#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "frontend/omp/settings.h"

// Teams of threads. The regions that main's thread begins outside of all others have teams of the
// job (job_team.h), whose threads are dealt to the nodes. All other regions, those within regions
// among them, have teams of the node of the thread that begins them (node_team.h).
namespace terrane::frontend::omp {

using Function = void(void*);

// Iterations first, first + step, ...: `count` of them. Numbers are those of unsigned arithmetic.
struct Range {
  std::uint64_t first = 0, end = 0, step = 1, count = 0;
};

// What a loop that shares its iterations does.
struct Plan {
  Schedule schedule = Schedule::kStatic;
  std::uint64_t chunk = 0;  // iterations; 0 of static: a block for each thread
  bool is_ordered = false;
};

// A worksharing construct, as one thread goes through it. Chunks have indices in the order of their
// iterations. A counter of the team gives out the indices of dynamic and guided chunks: each thread
// takes from it until it is past the end, so all know what it holds at the construct's end.
struct Work {
  bool is_active = false;
  bool takes_turns = false;  // ordered
  bool has_chunk = false, has_turn = false;
  Range range;
  Plan plan;
  std::uint32_t slot = 0;
  std::uint64_t chunk = 0;                           // the index of the last one that was given
  std::uint64_t rounds = 0;                          // of a static schedule
  void* block = nullptr;                             // of a team of one, for block_of_work
  std::uint64_t guided_index = 0, guided_begin = 0;  // the begin of guided chunk guided_index
  std::uint64_t origin = 0, stride = 1;  // of a loop that is counted from 0: what its numbers are
};

// A loop whose iterations wait for others (doacross.cpp).
struct Doacross {
  bool is_active = false;
  std::uint32_t dimensions = 0;
  std::uint64_t inner = 1;           // iterations within one of the outer loop
  std::uint64_t base = 0;            // what the team's counters were at the begin
  std::uint64_t done = 0;            // what this thread has added to its own
  std::uint64_t* extents = nullptr;  // of the dimensions, while it is active
  void* of_caller = nullptr;         // what kmp/loops.cpp knows of it
};

// A taskgroup, or what is around tasks without one; the task reductions that are in force.
struct Group {
  Group* outer = nullptr;
  std::uintptr_t* reductions = nullptr;
  std::uint32_t tasks = 0;         // of this node's queues that have not ended (task_queue.h)
  void* kmp_reductions = nullptr;  // those of kmp/reductions.cpp
};

// Counters of constructs: a slot is used again after a barrier of the team.
inline constexpr std::uint32_t kSlots = 64;

// How far a thread is with the constructs of its team. The team's threads count alike.
struct Progress {
  std::uint64_t generation = 0;      // constructs so far
  std::uint64_t taken[kSlots] = {};  // of the counters of slots, at the begin of their next use
  std::uint64_t turns[kSlots] = {};
};

inline constexpr std::uint32_t kNoRegion = ~0u;  // of those that have numbers in the report

struct Region;
struct TaskPool;

// By what the threads of a team that has more than one synchronise and share memory. Any of them
// may call this.
class Team {
 public:
  // Waits until all threads have come. What any of them wrote before is seen by all.
  virtual void wait(const Region& region) = 0;
  // Whether the calling thread runs the `single` of that slot and generation.
  virtual bool takes_single(Region& region, std::uint32_t slot) = 0;
  // The counter of a slot that gives out chunks: what it was, and it is one more. Nothing else is
  // seen with it.
  virtual std::uint64_t take_chunk(std::uint32_t slot) = 0;
  // The counter of a slot that says whose turn it is: is one more; is at least so large. What a
  // thread wrote before it passed a turn is seen by a thread that has waited for that turn.
  virtual void pass_turn(std::uint32_t slot) = 0;
  virtual void await_turn(std::uint32_t slot, std::uint64_t turn) = 0;
  // The counter of a thread of the team that says how many iterations of doacross loops are done:
  // what it was, and it is larger by that; is at least so large. What it carries is as with turns.
  virtual std::uint64_t add_done(const Region& region, std::uint64_t iterations) = 0;
  virtual void await_done(const Region& region, std::uint32_t thread, std::uint64_t at_least) = 0;
  // Memory of zeros for all threads of the construct of that slot and generation, until the slot
  // is used again.
  virtual void* shared_block(const Region& region, std::uint32_t slot, std::size_t bytes) = 0;
  virtual void*& copied() = 0;

 protected:
  ~Team() = default;  // no team ends
};

// The tasks of the teams of the job on this node (task_queue.h).
extern TaskPool job_tasks;

// A parallel region, as one of its threads is in it.
struct Region {
  Region* outer = nullptr;
  std::uint32_t number = 0, size = 1;
  std::uint32_t threads_here = 1;  // of this node
  std::uint32_t local = 0;         // the thread's place among these
  std::uint32_t level = 0, active_level = 0;
  Team* team = nullptr;  // nullptr: of one thread
  Progress* progress = nullptr;
  TaskPool* tasks = &job_tasks;
  bool moves_tasks = false;           // between nodes (task_moves.h)
  std::uint32_t report = kNoRegion;   // its number in the report, or that of the one around it
  std::uint32_t without_barrier = 0;  // constructs since the last barrier
  std::uint32_t singles = 0;          // of these
  void* copied = nullptr;             // of a team of one (copied)
  Work work;
  Doacross doacross;
};

// What a thread is to OpenMP.
struct Thread {
  Region* region = nullptr;  // nullptr: none, it is in the implicit region around the program
  Group* group = nullptr;    // of the task that it is in
  Controls controls;
  bool has_controls = false;
  std::uint32_t final_tasks = 0, explicit_tasks = 0;
  // Which of the tasks that it has run it is in, and how many it has begun.
  std::uint32_t task_number = 0, tasks_begun = 0;
  std::int32_t team_number = 0, teams = 1;
};

extern thread_local constinit Thread own_thread;
inline Thread& this_thread() { return own_thread; }
// The calling thread is in another task from now on; the number of the one before.
inline std::uint32_t begin_task_number() {
  Thread& me = this_thread();
  return std::exchange(me.task_number, ++me.tasks_begun);
}
Controls& controls();
// The region around the program, of the calling thread.
extern thread_local constinit Region implicit_region;
// The region that the calling thread is in, or that one.
inline Region& region() {
  Region* own = this_thread().region;
  return own == nullptr ? implicit_region : *own;
}

// Runs function(data) by a team. `wanted` 0: as many threads as the control variables say. `work`:
// a loop that all threads begin with, or nullptr. `flags`: the number of the clause proc_bind.
// `name`: what the region is in reports, where function is not the program's own.
struct LoopBegin {
  Range range;
  Plan plan;
};
void run_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin,
                unsigned flags = 0, Function* name = nullptr);
// The same with task reductions over the region (reductions.h); how many threads it had.
std::uint32_t run_reducing(Function* function, void* data, std::uint32_t wanted,
                           std::uintptr_t* reductions, unsigned flags);
// The same in two calls: the caller runs its part between them.
void start_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin);
void end_region();

// Runs function(data) by each team of a league: one after the other, and each may use all nodes. 0
// teams, or threads: as many as the control variables say.
void run_league(Function* function, void* data, unsigned teams, unsigned thread_limit);

// How many threads the next region has, at most.
std::uint32_t next_team_size(std::uint32_t wanted);

// Waits for all threads of the team, and until its tasks have ended.
void team_barrier();
// Where the thread that runs a `single` leaves its variables for the others of its team.
void*& copied();

[[noreturn]] void fail_unserved(const char* name);

}  // namespace terrane::frontend::omp
