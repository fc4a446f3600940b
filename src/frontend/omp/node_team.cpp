#include "frontend/omp/node_team.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

#include "frontend/omp/binding.h"
#include "frontend/omp/job_team.h"
#include "frontend/omp/node_wait.h"
#include "frontend/omp/region_report.h"
#include "frontend/omp/task.h"
#include "frontend/omp/task_pool.h"
#include "frontend/omp/task_queue.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

// A thread that waits for a master to give it a part of a region.
struct alignas(64) Worker {
  std::atomic<NodeTeam*> team{nullptr};
  std::uint32_t number = 0;  // in it
  Signal called;
  Worker* next = nullptr;  // of those that are idle
};

// What a construct shares.
struct alignas(64) Slot {
  std::atomic<std::uint64_t> chunks{0}, turns{0};
  std::atomic<std::uint64_t> single{0};  // the generation of the latest one that a thread runs
  std::atomic<bool> busy{false};
  void* block = nullptr;
  std::uint64_t block_generation = 0;
};

// What the team knows of one of its threads.
struct alignas(64) Member {
  std::atomic<std::uint64_t> done{0};  // iterations of doacross loops
  Worker* worker = nullptr;            // nullptr: the master
};

// `count` objects in private memory, which is never given back.
template <typename T>
T* make(std::size_t count = 1) {
  auto* all = static_cast<T*>(terrane_program_private_memory(count * sizeof(T)));
  for (std::size_t i = 0; i < count; ++i) new (all + i) T;
  return all;
}

}  // namespace

class NodeTeam final : public Team {
 public:
  // With so many threads, at most.
  explicit NodeTeam(std::uint32_t most) : most_(most), members_(make<Member>(most)) {
    if (!program_has_tasks()) return;
    tasks_.queues = make<Queue>(most);
    tasks_.room = most;
  }

  std::uint32_t most() const { return most_; }
  std::uint32_t size() const { return size_; }
  // Whether this node's threads are more than its processors: those that wait do not poll.
  bool is_crowded() const { return is_crowded_; }
  Worker*& worker(std::uint32_t number) { return members_[number].worker; }

  // The master's: how many threads the next region has, its begin, and its end, at which the team
  // is as it was in the beginning.
  void resize(std::uint32_t size, bool is_crowded) {
    size_ = size;
    is_crowded_ = is_crowded;
  }
  void fork(const Parallel& parallel, Region& region);
  void join();
  // A worker's.
  void run_member(std::uint32_t number);
  void end_member();

  void wait(const Region& region) override;
  bool takes_single(Region& region, std::uint32_t slot) override;
  std::uint64_t take_chunk(std::uint32_t slot) override { return slots_[slot].chunks.fetch_add(1); }
  void pass_turn(std::uint32_t slot) override;
  void await_turn(std::uint32_t slot, std::uint64_t turn) override;
  std::uint64_t add_done(const Region& region, std::uint64_t iterations) override;
  void await_done(const Region& region, std::uint32_t thread, std::uint64_t at_least) override;
  void* shared_block(const Region& region, std::uint32_t slot, std::size_t bytes) override;
  void*& copied() override { return copied_; }

  NodeTeam* next = nullptr;  // of those that nobody uses

 private:
  Region region_of(std::uint32_t number, Progress& progress);
  void clear_slots();

  const std::uint32_t most_;
  Member* const members_;
  std::uint32_t size_ = 0;
  bool is_crowded_ = false;
  Part part_ = {};
  Seat seat_ = {};  // the master's
  Region* outer_ = nullptr;
  Progress masters_progress_;
  TaskPool tasks_;
  Slot slots_[kSlots];
  void* copied_ = nullptr;
  alignas(64) std::atomic<std::uint32_t> came_{0};  // to the barrier
  std::atomic<std::uint32_t> barriers_{0};
  Signal barrier_over_;
  alignas(64) Signal passed_;  // turns, and iterations of doacross loops
  alignas(64) std::atomic<std::uint32_t> working_{0};
  Signal all_ended_;
};

Region NodeTeam::region_of(std::uint32_t number, Progress& progress) {
  Region made = make_region(outer_, number, size_);
  made.threads_here = size_;
  made.local = number;
  made.team = this;
  made.progress = &progress;
  made.tasks = &tasks_;
  made.report = outer_->report;
  return made;
}

void NodeTeam::fork(const Parallel& parallel, Region& region) {
  outer_ = &omp::region();
  describe(parallel, part_);
  seat_ = own_seat();
  working_.store(size_ - 1, std::memory_order_relaxed);
  for (std::uint32_t number = 1; number < size_; ++number) {
    Worker& worker = *members_[number].worker;
    worker.number = number;
    worker.team.store(this, std::memory_order_release);
    worker.called.announce();
  }
  region = region_of(0, masters_progress_);
  Thread& me = this_thread();
  me.controls = part_.controls;
  me.region = &region;
  take_seat(part_.bind, 0, size_, size_, seat_);
}

void NodeTeam::join() {
  all_ended_.await(!is_crowded_, [&] { return working_.load(std::memory_order_acquire) == 0; });
  clear_slots();
  part_ = {};
}

// The last constructs may have left something in theirs.
void NodeTeam::clear_slots() {
  std::uint64_t used = std::min<std::uint64_t>(masters_progress_.generation, kSlots);
  for (std::uint64_t generation = 1; generation <= used; ++generation) {
    std::uint64_t slot = generation % kSlots;
    slots_[slot].chunks.store(0, std::memory_order_relaxed);
    slots_[slot].turns.store(0, std::memory_order_relaxed);
    slots_[slot].single.store(0, std::memory_order_relaxed);
    slots_[slot].block_generation = 0;
    std::free(slots_[slot].block);
    slots_[slot].block = nullptr;
    masters_progress_.taken[slot] = masters_progress_.turns[slot] = 0;
  }
  masters_progress_.generation = 0;
  for (std::uint32_t i = 0; i < size_; ++i) members_[i].done.store(0, std::memory_order_relaxed);
}

void NodeTeam::run_member(std::uint32_t number) {
  Progress progress;
  Region own = region_of(number, progress);
  note_begin(own.report, false);
  run_part(part_, own, seat_);
  note_end(own.report);
  note_pause(false);
}

// Another master may have the team before this has returned.
void NodeTeam::end_member() {
  if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ended_.announce();
}

void NodeTeam::wait(const Region&) {
  std::uint32_t barrier = barriers_.load(std::memory_order_acquire);
  if (came_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    came_.store(0, std::memory_order_relaxed);
    barriers_.store(barrier + 1, std::memory_order_release);
    barrier_over_.announce();
  } else {
    barrier_over_.await(!is_crowded_,
                        [&] { return barriers_.load(std::memory_order_acquire) != barrier; });
  }
}

bool NodeTeam::takes_single(Region& region, std::uint32_t slot) {
  std::uint64_t generation = region.progress->generation;
  std::uint64_t latest = slots_[slot].single.load(std::memory_order_relaxed);
  return latest < generation &&
         slots_[slot].single.compare_exchange_strong(latest, generation, std::memory_order_relaxed);
}

void NodeTeam::pass_turn(std::uint32_t slot) {
  slots_[slot].turns.fetch_add(1);
  passed_.announce();
}

void NodeTeam::await_turn(std::uint32_t slot, std::uint64_t turn) {
  passed_.await(!is_crowded_,
                [&] { return slots_[slot].turns.load(std::memory_order_acquire) >= turn; });
}

std::uint64_t NodeTeam::add_done(const Region& region, std::uint64_t iterations) {
  std::uint64_t before = members_[region.number].done.fetch_add(iterations);
  if (iterations != 0) passed_.announce();
  return before;
}

void NodeTeam::await_done(const Region&, std::uint32_t thread, std::uint64_t at_least) {
  passed_.await(!is_crowded_,
                [&] { return members_[thread].done.load(std::memory_order_acquire) >= at_least; });
}

void* NodeTeam::shared_block(const Region& region, std::uint32_t number, std::size_t bytes) {
  Slot& slot = slots_[number];
  Hold hold(slot.busy);
  if (slot.block_generation != region.progress->generation) {
    std::free(slot.block);
    slot.block = std::calloc(1, bytes);
    slot.block_generation = region.progress->generation;
  }
  return slot.block;
}

namespace {

// Teams that nobody uses, and idle workers.
std::atomic<bool> pool_busy{false};
NodeTeam* idle_teams = nullptr;
Worker* idle_workers = nullptr;
std::atomic<std::uint32_t> workers_in_use{0};

void* work_here(void* raw) {
  Worker& me = *static_cast<Worker*>(raw);
  for (bool polls = true;;) {
    NodeTeam* team = nullptr;
    me.called.await(polls, [&] {
      team = me.team.load(std::memory_order_acquire);
      return team != nullptr;
    });
    team->run_member(me.number);
    polls = !team->is_crowded();
    me.team.store(nullptr, std::memory_order_relaxed);
    team->end_member();
  }
}

// Threads of this node that are in the outermost region around the calling thread.
std::uint32_t threads_of_outermost() {
  const Region* around = &region();
  while (around->outer != nullptr && around->level > 1) around = around->outer;
  return around->threads_here;
}

// Up to so many workers, which nobody else uses then. Of the limit that the environment gives all
// threads the node has its share; one that a clause of `teams` or `target` gives is that of the
// calling thread and its team, which are here.
std::uint32_t reserve_workers(std::uint32_t wanted) {
  std::uint32_t limit = environment().controls.thread_limit;
  if (controls().thread_limit < limit) wanted = std::min(wanted, controls().thread_limit - 1);
  std::uint32_t most = share(limit, terrane_program_node());
  most -= std::min(most, threads_of_outermost());
  std::uint32_t used = workers_in_use.load(std::memory_order_relaxed), taken = 0;
  do {
    taken = std::min(wanted, most - std::min(most, used));
  } while (!workers_in_use.compare_exchange_weak(used, used + taken, std::memory_order_relaxed));
  return taken;
}

// An idle one with room for so many threads, or a new one. By a thread that holds the pool.
NodeTeam* take_team(std::uint32_t size) {
  NodeTeam** link = &idle_teams;
  while (*link != nullptr && (*link)->most() < size) link = &(*link)->next;
  NodeTeam* team = *link;
  if (team != nullptr) {
    *link = team->next;
    return team;
  }
  return new (terrane_program_private_memory(sizeof(NodeTeam))) NodeTeam(std::bit_ceil(size));
}

// The same; nullptr: there is no idle one.
Worker* take_worker() {
  Worker* worker = idle_workers;
  if (worker != nullptr) idle_workers = worker->next;
  return worker;
}

void give_back(NodeTeam& team) {
  Hold hold(pool_busy);
  for (std::uint32_t number = team.size() - 1; number > 0; --number) {
    Worker* worker = team.worker(number);
    worker->next = idle_workers;
    idle_workers = worker;
  }
  team.next = idle_teams;
  idle_teams = &team;
}

}  // namespace

NodeTeam* take_node_team(std::uint32_t wanted) {
  std::uint32_t size = 1 + reserve_workers(wanted - 1);
  if (size == 1) return nullptr;
  NodeTeam* team = nullptr;
  {
    Hold hold(pool_busy);
    team = take_team(size);
    for (std::uint32_t number = 1; number < size; ++number) team->worker(number) = take_worker();
  }
  for (std::uint32_t number = 1; number < size; ++number) {
    if (team->worker(number) != nullptr) continue;
    team->worker(number) = make<Worker>();
    start_thread(terrane_program_node(), work_here, team->worker(number));
  }
  std::uint32_t processors = share(terrane_program_places(), terrane_program_node());
  team->resize(size, workers_in_use.load() + threads_of_outermost() > processors);
  return team;
}

void fork_node(NodeTeam& team, const Parallel& parallel, Region& region) {
  team.fork(parallel, region);
}

void join_node(NodeTeam& team) {
  team.join();
  workers_in_use.fetch_sub(team.size() - 1, std::memory_order_relaxed);
  give_back(team);
}

}  // namespace terrane::frontend::omp
