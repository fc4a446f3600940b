#include "frontend/omp/team.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "frontend/omp/api.h"
#include "frontend/omp/binding.h"
#include "frontend/omp/reductions.h"
#include "frontend/omp/region_report.h"
#include "frontend/omp/task_history.h"
#include "frontend/omp/task_moves.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"
#include "platform/floating_point.h"

namespace terrane::frontend::omp {
namespace {

// Barriers with small numbers are held in memory where nothing has to be sent. The program uses
// none.
constexpr std::uint32_t kForkBarrier = 1, kLocalsBarrier = 2, kTeamBarrier = 3;

// What the master tells the workers at the fork.
struct Fork {
  enum Command : std::uint32_t { kRun, kGrow, kEachNode };
  Command command;
  std::uint32_t pool, size;  // threads that there are (kGrow), and of the team
  Function* function;
  void* data;
  std::uint64_t generation;
  Controls controls;
  LoopBegin begin;
  std::uint32_t has_begin;
  std::uintptr_t* reductions;
  std::uint32_t loads_thread_locals;
  std::uint32_t region;  // its number in the report
  std::uint32_t moves_tasks;
  std::int32_t team_number, teams;  // of the master's league
  std::uint64_t floating_point;     // the control of the master's
  Bind bind;
};

// The part of shared memory by which a team synchronises.
struct alignas(64) Meeting {
  alignas(64) pthread_barrier_t small;  // of a team that is not on all nodes
  std::uint32_t small_size;
  alignas(64) void* copied;
  alignas(64) std::uint64_t taken[kSlots], turns[kSlots];  // for threads that were in no team
  alignas(64) void* blocks[kSlots];
  std::uint64_t block_generations[kSlots];
  std::byte* thread_locals;  // a copy of the master's
  void* mails;               // by which tasks move
  std::byte* chunks;         // counters of slots, at home on node 0
};

constexpr std::size_t kCounterBytes = 64;  // no two of them share a line

constexpr unsigned kProcBindBits = 7;  // of the flags of a region

struct Begin {
  Meeting* meeting;
  std::uint32_t local, pool;
};

Meeting* meeting = nullptr;        // nullptr: no team yet
bool team_was_smaller = false;     // than the pool, since the tables were written
std::byte* last_locals = nullptr;  // of the master, as the other nodes have them
bool has_copy = false;             // of them, in their place on this node
thread_local Region implicit;
thread_local std::uint32_t known_pool = 0;  // threads that come to the fork
// What the master announced last, as this thread received it.
thread_local Fork latest_fork;
bool is_new_pool = false;  // some threads have heard nothing yet; the master's

std::uint32_t nodes() { return terrane_program_nodes(); }

// A block of `total` threads for each node.
std::uint32_t share(std::uint32_t total, std::uint32_t node) {
  return total / nodes() + (node < total % nodes() ? 1 : 0);
}

std::uint32_t threads_before(std::uint32_t total, std::uint32_t node) {
  return node * (total / nodes()) + std::min(node, total % nodes());
}

std::uint32_t pool_here() { return share(known_pool, terrane_program_node()); }

// Of a team, for the thread of that number.
Region make_region(Region* outer, std::uint32_t number, std::uint32_t size, bool moves_tasks) {
  Region made;
  made.outer = outer;
  made.number = number;
  made.size = size;
  made.threads_here = share(size, terrane_program_node());
  made.is_on_all_nodes = size >= nodes();
  made.moves_tasks = moves_tasks;
  made.level = outer->level + 1;
  made.active_level = outer->active_level + (size > 1 ? 1 : 0);
  return made;
}

// The team's counters, for a thread that missed what other teams did.
void read_tables(Thread& me) {
  if (!me.is_stale) return;
  std::memcpy(me.taken, meeting->taken, sizeof me.taken);
  std::memcpy(me.turns, meeting->turns, sizeof me.turns);
  me.is_stale = false;
  me.generation = latest_fork.generation;
}

void run_part(Thread& me) {
  const Fork& fork = latest_fork;
  std::uint32_t node = terrane_program_node();
  if (me.local >= share(fork.size, node)) {
    me.is_stale = true;
    return;
  }
  read_tables(me);
  note_begin(fork.region, me.local == 0);
  Region own = make_region(&implicit, threads_before(fork.size, node) + me.local, fork.size,
                           fork.moves_tasks != 0);
  me.region = &own;
  me.controls = fork.controls;
  me.has_controls = true;
  begin_task_number();
  me.team_number = fork.team_number;
  me.teams = fork.teams;
  platform::floating_point::apply_control({fork.floating_point, 0});
  take_seat(fork.bind, me.local, own.threads_here, fork.size);
  Group group{nullptr, fork.reductions};
  me.group = fork.reductions != nullptr ? &group : nullptr;
  if (fork.has_begin != 0) begin_work(fork.begin.range, fork.begin.plan);
  fork.function(fork.data);
  await_all_tasks();
  me.region = nullptr;
  note_end(fork.region);
}

// The place of the master's thread-local variables on another node holds a copy of them, which the
// workers' copyin reads.
void exchange_thread_locals(const Thread& me) {
  if (latest_fork.loads_thread_locals == 0) return;
  if (terrane_program_node() != 0 && me.local == 0) {
    terrane_program_tls_load(meeting->thread_locals);
    has_copy = true;
  }
  terrane_program_barrier(kLocalsBarrier, pool_here());
}

// The program has taken the address of a thread-local variable of the master and written to it in
// another thread: on this node that changes the copy, which nobody reads.
void check_thread_locals(const Thread& me) {
  if (!has_copy || me.local != 0 || terrane_program_tls_equals(meeting->thread_locals)) return;
  terrane_program_fail(
      "a thread has written to a thread-local (threadprivate) variable of the first thread by a "
      "pointer, which has no effect on another node: make the variable a shared one");
}

void* work(void* raw) {
  auto* begin = static_cast<Begin*>(raw);
  Thread& me = this_thread();
  me.local = begin->local;
  me.is_stale = true;
  meeting = begin->meeting;
  use_mails(meeting->mails);
  known_pool = begin->pool;
  std::free(begin);
  for (;;) {
    terrane_program_fork(kForkBarrier, pool_here(), nullptr, &latest_fork, sizeof latest_fork);
    switch (latest_fork.command) {
      case Fork::kGrow:
        known_pool = latest_fork.pool;
        break;
      case Fork::kEachNode:
        note_pause(me.local == 0);
        if (me.local == 0) latest_fork.function(latest_fork.data);
        break;
      case Fork::kRun:
        exchange_thread_locals(me);
        run_part(me);
        check_thread_locals(me);
        break;
    }
  }
}

void start_workers(std::uint32_t before, std::uint32_t pool) {
  for (std::uint32_t node = 0; node < nodes(); ++node) {
    std::uint32_t from = std::max(share(before, node), node == 0 ? 1u : 0u);
    for (std::uint32_t local = from; local < share(pool, node); ++local) {
      auto* begin = static_cast<Begin*>(std::malloc(sizeof(Begin)));
      if (begin == nullptr) terrane_program_fail("no memory for a thread of OpenMP");
      *begin = {meeting, local, pool};
      if (int error = terrane_program_thread(node, work, begin, environment().stack_bytes);
          error != 0)
        terrane_program_fail(("cannot start a thread of OpenMP: " +
                              std::string(std::strerror(error)) + "; lower OMP_NUM_THREADS")
                                 .c_str());
    }
  }
}

void make_meeting() {
  meeting = static_cast<Meeting*>(terrane_program_memory(sizeof(Meeting)));
  meeting->chunks = static_cast<std::byte*>(
      terrane_program_homed_memory(kSlots * kCounterBytes, kProgramOnNode, 0));
  if (may_tasks_move(nodes()) && program_has_tasks()) use_mails(meeting->mails = make_mails());
  std::size_t bytes = nodes() > 1 ? terrane_program_tls_bytes() : 0;
  if (bytes != 0) {
    meeting->thread_locals = static_cast<std::byte*>(terrane_program_memory(bytes));
    last_locals = static_cast<std::byte*>(std::calloc(1, bytes));
  }
}

// Has at least so many threads, and one on each node.
void ensure_pool(std::uint32_t size) {
  std::uint32_t before = known_pool;
  std::uint32_t pool = std::max(size, nodes());
  if (before >= pool) return;
  if (meeting == nullptr) {
    make_meeting();
  } else {
    latest_fork.command = Fork::kGrow;
    latest_fork.pool = pool;
    terrane_program_fork(kForkBarrier, pool_here(), &latest_fork, nullptr, sizeof latest_fork);
  }
  known_pool = pool;
  is_new_pool = true;
  team_was_smaller = true;  // than the pool that is now
  start_workers(before, pool);
}

// True: the other nodes are to have the master's thread-local variables anew.
bool publish_thread_locals() {
  if (last_locals == nullptr || terrane_program_tls_equals(last_locals)) return false;
  terrane_program_tls_save(last_locals);
  std::memcpy(meeting->thread_locals, last_locals, terrane_program_tls_bytes());
  return true;
}

void prepare_small_barrier(std::uint32_t size) {
  if (size >= nodes() || meeting->small_size == size) return;
  if (meeting->small_size != 0) ::pthread_barrier_destroy(&meeting->small);
  ::pthread_barrier_init(&meeting->small, nullptr, size);
  meeting->small_size = size;
}

// Tells nothing where the last region was the same one: then its fork sends nothing. Threads that
// were in that one have counted the constructs themselves.
void tell(Fork& fork) {
  std::uint64_t generation = std::exchange(fork.generation, latest_fork.generation);
  bool is_same = !is_new_pool && std::memcmp(&latest_fork, &fork, sizeof fork) == 0;
  fork.generation = generation;
  if (!is_same) std::memcpy(&latest_fork, &fork, sizeof fork);
  terrane_program_fork(kForkBarrier, pool_here(), is_same ? nullptr : &latest_fork, nullptr,
                       sizeof latest_fork);
  is_new_pool = false;
}

bool can_fork() { return terrane_program_is_main() && this_thread().region == nullptr; }

struct Started {
  Region region;
  Region* around;
  Controls controls;
  Frame frame;  // where tasks within it are not those of the task around it
  bool has_frame;
  std::uint32_t task_number;
  Group* group;  // of the task around the region
  bool is_forked;
  std::uint32_t number;  // in the report
  Function* function;
};

void enter_alone(Started& started, unsigned flags) {
  Thread& me = this_thread();
  if (can_fork()) {
    share_places();
    take_seat(bind_of_region(flags & kProcBindBits), 0, 1, 1);
  }
  started.controls = controls();
  me.controls.bind = bind_within(flags & kProcBindBits);
  started.is_forked = false;
  Region& outer = region();
  started.region = Region();
  started.region.outer = &outer;
  started.region.level = outer.level + 1;
  started.region.active_level = outer.active_level;
  me.region = &started.region;
}

void fork_team(Started& started, Function* function, void* data, std::uint32_t size,
               const LoopBegin* begin, unsigned flags, Function* name) {
  Thread& me = this_thread();
  ensure_pool(size);
  share_places();
  prepare_small_barrier(size);
  Fork fork = {};
  fork.command = Fork::kRun;
  fork.size = size;
  fork.function = function;
  fork.data = data;
  fork.generation = me.generation;
  fork.controls = controls();
  fork.controls.bind = bind_within(flags & kProcBindBits);
  fork.reductions = me.group != nullptr ? me.group->reductions : nullptr;
  fork.has_begin = begin != nullptr ? 1 : 0;
  if (begin != nullptr) fork.begin = *begin;
  fork.loads_thread_locals = publish_thread_locals() ? 1 : 0;
  if (team_was_smaller) {
    std::memcpy(meeting->taken, me.taken, sizeof me.taken);
    std::memcpy(meeting->turns, me.turns, sizeof me.turns);
  }
  team_was_smaller = size < known_pool;
  started.function = name;
  fork.bind = bind_of_region(flags & kProcBindBits);
  fork.team_number = me.team_number;
  fork.teams = me.teams;
  fork.floating_point = platform::floating_point::capture().control;
  fork.moves_tasks =
      size >= nodes() && may_tasks_move(nodes()) && program_has_tasks() && expects_tasks(name);
  started.number = fork.region = reports() ? region_number(name) : 0;
  note_fork(fork.region);
  tell(fork);
  note_begin(fork.region, true);
  exchange_thread_locals(me);
  started.controls = controls();
  me.controls.bind = fork.controls.bind;
  started.is_forked = true;
  started.region = make_region(&implicit, 0, size, fork.moves_tasks != 0);
  me.region = &started.region;
  take_seat(fork.bind, 0, started.region.threads_here, size);
}

void enter(Started& started, Function* function, void* data, std::uint32_t wanted,
           const LoopBegin* begin, unsigned flags = 0, Group* group = nullptr,
           Function* name = nullptr) {
  std::uint32_t size = next_team_size(wanted);
  started.group = std::exchange(this_thread().group, group);
  started.around = this_thread().region;
  started.task_number = begin_task_number();
  started.has_frame = size == 1 || is_in_task();
  if (started.has_frame) enter_implicit_task(started.frame);
  if (size == 1) {
    enter_alone(started, flags);
  } else {
    fork_team(started, function, data, size, begin, flags, name == nullptr ? function : name);
  }
  if (begin != nullptr) begin_work(begin->range, begin->plan);
}

void leave(Started& started) {
  Thread& me = this_thread();
  await_all_tasks();
  if (started.is_forked) {
    me.region = started.around;
    note_end(started.number);
    terrane_program_join(kForkBarrier, pool_here());
    note_join(started.number);
    if (program_has_tasks()) note_tasks(started.function, take_had_tasks());
  } else {
    me.region = started.around;
  }
  if (started.has_frame) leave_task(started.frame);
  me.task_number = started.task_number;
  me.controls = started.controls;
  me.group = started.group;
}

// Constructs of OpenMP are relaxed, but for those that say more.
[[gnu::constructor]] void prepare() {
  terrane_program_relax_atomics();
  terrane_program_has_barriers(kTeamBarrier);
}

// Of regions that were begun by start_region: at most kMostStarted within each other.
constexpr std::uint32_t kMostStarted = 16;
thread_local Started started_regions[kMostStarted];
thread_local std::uint32_t started_count = 0;

}  // namespace

Thread& this_thread() {
  static thread_local constinit Thread thread;
  return thread;
}

Controls& controls() {
  Thread& me = this_thread();
  if (!me.has_controls) {
    me.controls = environment().controls;
    me.has_controls = true;
    if (environment().shows != 0 && terrane_program_is_main()) omp_display_env(0);
  }
  return me.controls;
}

Region& region() {
  Region* own = this_thread().region;
  return own == nullptr ? implicit : *own;
}

std::uint32_t next_team_size(std::uint32_t wanted) {
  if (!can_fork()) return 1;
  const Controls& own = controls();
  if (own.max_active_levels == 0) return 1;
  std::uint32_t size = wanted != 0 ? wanted : own.threads;
  if (size == 0) size = terrane_program_places();
  return std::clamp(size, 1u, own.thread_limit);
}

void run_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin,
                unsigned flags, Function* name) {
  Started started;
  enter(started, function, data, wanted, begin, flags, nullptr, name);
  function(data);
  leave(started);
}

std::uint32_t node_of_thread(std::uint32_t thread, std::uint32_t size) {
  std::uint32_t node = 0;
  while (thread >= threads_before(size, node) + share(size, node)) ++node;
  return node;
}

void run_on_each_node(Function* function, void* data) {
  ensure_pool(nodes());
  latest_fork.command = Fork::kEachNode;
  latest_fork.function = function;
  latest_fork.data = data;
  terrane_program_fork(kForkBarrier, pool_here(), &latest_fork, nullptr, sizeof latest_fork);
  note_pause(true);
  function(data);
  terrane_program_join(kForkBarrier, pool_here());
}

std::uint32_t run_reducing(Function* function, void* data, std::uint32_t wanted,
                           std::uintptr_t* reductions, unsigned flags) {
  std::uint32_t size = next_team_size(wanted);
  Thread& me = this_thread();
  Group group, *around = std::exchange(me.group, &group);
  register_reductions(reductions, size);
  me.group = around;
  Started started;
  enter(started, function, data, size, nullptr, flags, &group);
  function(data);
  leave(started);
  return size;
}

void start_region(Function* function, void* data, std::uint32_t wanted, const LoopBegin* begin) {
  if (started_count == kMostStarted)
    terrane_program_fail("GOMP_parallel_start: more than 16 regions within each other");
  enter(started_regions[started_count++], function, data, wanted, begin);
}

void end_region() { leave(started_regions[--started_count]); }

void team_barrier() {
  Region& own = region();
  own.without_barrier = own.singles = 0;
  await_all_tasks();
  if (own.size == 1) return;
  if (own.is_on_all_nodes) {
    terrane_program_barrier(kTeamBarrier, own.threads_here);
  } else {
    ::pthread_barrier_wait(&meeting->small);
  }
}

void set_copied(void* variables) { meeting->copied = variables; }

void* copied() { return meeting->copied; }

std::uint64_t take_chunk(std::uint32_t slot) {
  return terrane_program_atomic(kProgramAdd, meeting->chunks + slot * kCounterBytes, 1);
}

void* shared_block(std::uint32_t slot, std::size_t bytes) {
  std::uint64_t generation = this_thread().generation;
  terrane_program_lock(&meeting->blocks[slot]);
  if (meeting->block_generations[slot] != generation) {
    std::free(meeting->blocks[slot]);
    meeting->blocks[slot] = std::calloc(1, bytes);
    meeting->block_generations[slot] = generation;
  }
  void* block = meeting->blocks[slot];
  terrane_program_unlock(&meeting->blocks[slot]);
  if (block == nullptr) terrane_program_fail("no memory for what the threads of a loop share");
  return block;
}

void fail_unserved(const char* name) {
  terrane_program_fail((std::string(name) +
                        " is not served on several nodes: run the program without terrane omp, or "
                        "leave this construct out")
                           .c_str());
}

}  // namespace terrane::frontend::omp
