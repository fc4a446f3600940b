#include "frontend/omp/job_team.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "frontend/omp/binding.h"
#include "frontend/omp/region_report.h"
#include "frontend/omp/task_history.h"
#include "frontend/omp/task_moves.h"
#include "frontend/omp/task_queue.h"
#include "frontend/threads/for_teams.h"

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
  Part part;
  std::uint64_t generation;
  std::uint32_t loads_thread_locals;
  std::uint32_t region;  // its number in the report
  std::uint32_t moves_tasks;
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

struct Begin {
  Meeting* meeting;
  std::uint32_t local, pool;
};

Meeting* meeting = nullptr;                 // nullptr: no team yet
bool team_was_smaller = false;              // than the pool, since the tables were written
std::byte* last_locals = nullptr;           // of the master, as the other nodes have them
bool has_copy = false;                      // of them, in their place on this node
thread_local std::uint32_t known_pool = 0;  // threads that come to the fork
// What the master announced last, as this thread received it.
thread_local Fork latest_fork;
bool is_new_pool = false;                  // some threads have heard nothing yet; the master's
thread_local std::uint32_t own_local = 0;  // the thread's place on its node
thread_local Progress own_progress;
thread_local bool is_stale = false;  // it was not in the last teams: its progress is old

// By slot: the number of the latest `single` that a thread of this node has taken.
std::atomic<std::uint64_t> singles_here[kSlots];

// The counter of a slot by which turns pass, by its number in the job.
std::uint32_t turns_of(std::uint32_t slot) { return kSlots + slot; }

// The counters of doacross loops depend only on the size of a team: all of its threads compute the
// same numbers.
constexpr std::uint32_t kFirstDone = 1u << 24, kDonesOfASize = 1024;
std::uint32_t done_of(const Region& region, std::uint32_t thread) {
  return kFirstDone + region.size * kDonesOfASize + thread;
}

class JobTeam final : public Team {
 public:
  void wait(const Region& region) override {
    if (region.size >= terrane_program_nodes()) {
      terrane_program_barrier(kTeamBarrier, region.threads_here);
    } else {
      ::pthread_barrier_wait(&meeting->small);
    }
  }

  // All threads know which node has it, and its thread that comes first takes it: nothing is sent.
  // Several in a row without a barrier between them go round.
  bool takes_single(Region& region, std::uint32_t slot) override {
    std::uint32_t nodes = std::min(terrane_program_nodes(), region.size);
    if (region.singles++ % nodes != terrane_program_node()) return false;
    std::uint64_t generation = region.progress->generation;
    std::uint64_t latest = singles_here[slot].load(std::memory_order_relaxed);
    return latest < generation && singles_here[slot].compare_exchange_strong(
                                      latest, generation, std::memory_order_relaxed);
  }

  std::uint64_t take_chunk(std::uint32_t slot) override {
    return terrane_program_atomic(kProgramAdd, meeting->chunks + slot * kCounterBytes, 1);
  }

  void pass_turn(std::uint32_t slot) override { terrane_program_add(turns_of(slot), 1); }

  void await_turn(std::uint32_t slot, std::uint64_t turn) override {
    terrane_program_await(turns_of(slot), static_cast<std::int64_t>(turn));
  }

  std::uint64_t add_done(const Region& region, std::uint64_t iterations) override {
    return static_cast<std::uint64_t>(
        terrane_program_add(done_of(region, region.number), static_cast<std::int64_t>(iterations)));
  }

  void await_done(const Region& region, std::uint32_t thread, std::uint64_t at_least) override {
    terrane_program_await(done_of(region, thread), static_cast<std::int64_t>(at_least));
  }

  void* shared_block(const Region& region, std::uint32_t slot, std::size_t bytes) override {
    std::uint64_t generation = region.progress->generation;
    terrane_program_lock(&meeting->blocks[slot]);
    if (meeting->block_generations[slot] != generation) {
      std::free(meeting->blocks[slot]);
      meeting->blocks[slot] = std::calloc(1, bytes);
      meeting->block_generations[slot] = generation;
    }
    void* block = meeting->blocks[slot];
    terrane_program_unlock(&meeting->blocks[slot]);
    return block;
  }

  void*& copied() override { return meeting->copied; }
};

JobTeam job_team;

std::uint32_t nodes() { return terrane_program_nodes(); }

std::uint32_t threads_before(std::uint32_t total, std::uint32_t node) {
  return node * (total / nodes()) + std::min(node, total % nodes());
}

std::uint32_t pool_here() { return share(known_pool, terrane_program_node()); }

// For the thread of that number.
Region region_of_job(std::uint32_t number, std::uint32_t local, const Fork& fork) {
  Region made = make_region(&implicit_region, number, fork.size);
  made.threads_here = share(fork.size, terrane_program_node());
  made.local = local;
  made.team = &job_team;
  made.progress = &own_progress;
  made.moves_tasks = fork.moves_tasks != 0;
  made.report = fork.region;
  return made;
}

// The team's counters, for a thread that missed what other teams did.
void read_tables() {
  if (!is_stale) return;
  std::memcpy(own_progress.taken, meeting->taken, sizeof own_progress.taken);
  std::memcpy(own_progress.turns, meeting->turns, sizeof own_progress.turns);
  is_stale = false;
  own_progress.generation = latest_fork.generation;
}

void run_own_part() {
  const Fork& fork = latest_fork;
  std::uint32_t node = terrane_program_node();
  if (own_local >= share(fork.size, node)) {
    is_stale = true;
    return;
  }
  read_tables();
  note_begin(fork.region, own_local == 0);
  Region own = region_of_job(threads_before(fork.size, node) + own_local, own_local, fork);
  run_part(fork.part, own, whole_node());
  note_end(fork.region);
}

// The place of the master's thread-local variables on another node holds a copy of them, which the
// workers' copyin reads.
void exchange_thread_locals() {
  if (latest_fork.loads_thread_locals == 0) return;
  if (terrane_program_node() != 0 && own_local == 0) {
    terrane_program_tls_load(meeting->thread_locals);
    has_copy = true;
  }
  terrane_program_barrier(kLocalsBarrier, pool_here());
}

// The program has taken the address of a thread-local variable of the master and written to it in
// another thread: on this node that changes the copy, which nobody reads.
void check_thread_locals() {
  if (!has_copy || own_local != 0 || terrane_program_tls_equals(meeting->thread_locals)) return;
  terrane_program_fail(
      "a thread has written to a thread-local (threadprivate) variable of the first thread by a "
      "pointer, which has no effect on another node: make the variable a shared one");
}

void* work(void* raw) {
  auto* begin = static_cast<Begin*>(raw);
  own_local = begin->local;
  is_stale = true;
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
        note_pause(own_local == 0);
        if (own_local == 0) latest_fork.part.function(latest_fork.part.data);
        break;
      case Fork::kRun:
        exchange_thread_locals();
        run_own_part();
        check_thread_locals();
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
      start_thread(node, work, begin);
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

// Constructs of OpenMP are relaxed, but for those that say more.
[[gnu::constructor]] void prepare() {
  terrane_program_relax_atomics();
  terrane_program_has_barriers(kTeamBarrier);
}

}  // namespace

std::uint32_t share(std::uint32_t total, std::uint32_t node) {
  return total / nodes() + (node < total % nodes() ? 1 : 0);
}

bool begins_job_team() { return terrane_program_is_main() && this_thread().region == nullptr; }

void fork_job(const Parallel& parallel, std::uint32_t size, Region& region) {
  Function* name = parallel.name == nullptr ? parallel.function : parallel.name;
  ensure_pool(size);
  share_places();
  prepare_small_barrier(size);
  Fork fork = {};
  fork.command = Fork::kRun;
  fork.size = size;
  describe(parallel, fork.part);
  fork.generation = own_progress.generation;
  fork.loads_thread_locals = publish_thread_locals() ? 1 : 0;
  if (team_was_smaller) {
    std::memcpy(meeting->taken, own_progress.taken, sizeof own_progress.taken);
    std::memcpy(meeting->turns, own_progress.turns, sizeof own_progress.turns);
  }
  team_was_smaller = size < known_pool;
  fork.moves_tasks =
      size >= nodes() && may_tasks_move(nodes()) && program_has_tasks() && expects_tasks(name);
  fork.region = reports() ? region_number(name) : 0;
  note_fork(fork.region);
  tell(fork);
  note_begin(fork.region, true);
  exchange_thread_locals();
  region = region_of_job(0, 0, fork);
  Thread& me = this_thread();
  me.controls = fork.part.controls;
  me.region = &region;
  take_seat(fork.part.bind, 0, region.threads_here, size, whole_node());
}

void join_job(const Region& region, Function* name) {
  note_end(region.report);
  terrane_program_join(kForkBarrier, pool_here());
  note_join(region.report);
  if (program_has_tasks()) note_tasks(name, take_had_tasks());
}

std::uint32_t node_of_thread(std::uint32_t thread, std::uint32_t size) {
  std::uint32_t node = 0;
  while (thread >= threads_before(size, node) + share(size, node)) ++node;
  return node;
}

void run_on_each_node(Function* function, void* data) {
  ensure_pool(nodes());
  latest_fork.command = Fork::kEachNode;
  latest_fork.part.function = function;
  latest_fork.part.data = data;
  terrane_program_fork(kForkBarrier, pool_here(), &latest_fork, nullptr, sizeof latest_fork);
  note_pause(true);
  function(data);
  terrane_program_join(kForkBarrier, pool_here());
}

}  // namespace terrane::frontend::omp
