#include "frontend/omp/task_queue.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "frontend/omp/late_tasks.h"
#include "frontend/omp/region_report.h"
#include "frontend/omp/task.h"
#include "frontend/omp/task_moves.h"
#include "frontend/omp/task_pool.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

constexpr std::uint32_t kQueues = 256;  // threads of a node that have one
// Within tasks a queue takes fewer, half as many at each depth: where tasks create tasks, the
// oldest are the largest, and the small ones run at once.
constexpr std::uint32_t kFewestQueued = 4;
Queue job_queues[kQueues];

// Barriers of teams whose tasks move, of which the other nodes hear.
std::atomic<std::uint64_t> moves_over{0}, announced{0};
// Threads of any node have created tasks in this region of the job, before its last barrier.
std::atomic<bool> region_has_tasks{false};
// The tasks that the calling thread is in, but for its implicit one; the innermost first.
thread_local Frame* innermost = nullptr;
thread_local Task implicit_task;

TaskPool& own_pool() { return *region().tasks; }

// The calling thread's; nullptr: it has none.
Queue* own_queue() {
  const Region& own = region();
  return own.local < own.tasks->room ? &own.tasks->queues[own.local] : nullptr;
}

void use_queues(TaskPool& pool, std::uint32_t count) {
  std::uint32_t before = pool.queues_used.load();
  while (before < count && !pool.queues_used.compare_exchange_weak(before, count)) continue;
}

// Into the calling thread's queue. False: it has none, or there is no room.
bool push(Task* task) {
  TaskPool& pool = own_pool();
  Queue* own = own_queue();
  if (own == nullptr) return false;
  Queue& queue = *own;
  Hold hold(queue.busy);
  std::uint32_t count = queue.count.load(std::memory_order_relaxed);
  if (count >= kRoom) return false;
  std::uint32_t number = region().local + 1;
  if (pool.queues_used.load(std::memory_order_relaxed) < number) use_queues(pool, number);
  queue.tasks[(queue.first + count) % kRoom] = task;
  queue.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

// The newest task, or the oldest one, if it is a descendant of that task (nullptr: any).
Task* take(Queue& queue, bool newest, const Task* of) {
  if (queue.count.load(std::memory_order_relaxed) == 0) return nullptr;
  Hold hold(queue.busy);
  std::uint32_t count = queue.count.load(std::memory_order_relaxed);
  if (count == 0) return nullptr;
  Task* task = queue.tasks[(queue.first + (newest ? count - 1 : 0)) % kRoom];
  if (of != nullptr && !is_descendant(task, of)) return nullptr;
  if (!newest) queue.first = (queue.first + 1) % kRoom;
  queue.count.store(count - 1, std::memory_order_relaxed);
  return task;
}

// Bare tasks that a thread has at hand.
thread_local Task* spare = nullptr;
thread_local std::uint32_t spare_count = 0;
constexpr std::uint32_t kMostSpare = 64;

Task* make_bare_task() {
  Task* task = spare;
  if (task != nullptr) {
    spare = task->parent;
    --spare_count;
    return new (task) Task;
  }
  void* memory = std::malloc(sizeof(Task));
  if (memory == nullptr) terrane_program_fail("no memory for a task");
  return new (memory) Task;
}

void free_task(Task* task) {
  if (!task->is_bare || spare_count == kMostSpare) return std::free(task);
  task->parent = std::exchange(spare, task);
  ++spare_count;
}

std::uint32_t depth() { return innermost == nullptr ? 0 : innermost->depth; }

// The same, and a task for each of those around it that has none.
Task& own_task() {
  Task* below = nullptr;
  for (Frame* frame = innermost;; frame = frame->outer) {
    Task* task = frame == nullptr ? &implicit_task : static_cast<Task*>(frame->task);
    bool is_new = task == nullptr;
    if (is_new) {
      task = make_bare_task();
      task->is_bare = true;
      frame->task = task;
    }
    if (below != nullptr) {
      below->parent = task;
      task->references.fetch_add(1, std::memory_order_relaxed);
    }
    if (!is_new) break;
    below = task;
  }
  return *known_task();
}

void drop(Task* task) {
  while (task != nullptr && task->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Task* parent = task->parent;
    free_task(task);
    task = parent;
  }
}

std::atomic_ref<std::uint32_t> tasks_of(Group& group) {
  return std::atomic_ref<std::uint32_t>(group.tasks);
}

// What the calling thread is, while it runs a task.
class Running {
 public:
  Running(Task* task, Group* group, const Controls& controls, bool is_final)
      : frame_{innermost, task, depth() + 1},
        group_(std::exchange(me_.group, group)),
        controls_(std::exchange(me_.controls, controls)),
        number_(begin_task_number()),
        finals_(std::exchange(me_.final_tasks, is_final ? 1u : 0u)),
        explicits_(std::exchange(me_.explicit_tasks, 1u)) {
    innermost = &frame_;
    note_task();
  }
  ~Running() {
    me_.explicit_tasks = explicits_;
    me_.final_tasks = finals_;
    me_.task_number = number_;
    me_.controls = controls_;
    me_.group = group_;
    innermost = frame_.outer;
  }
  Running(const Running&) = delete;

 private:
  Thread& me_ = this_thread();
  Frame frame_;
  Group* group_;
  Controls controls_;
  std::uint32_t number_, finals_, explicits_;
};

void run(Task* task) {
  run_body(task);
  finish(task);
}

// Of the queues of the team on this node.
Task* take_queued(const Task* of) {
  const Region& region = omp::region();
  TaskPool& pool = *region.tasks;
  if (pool.unfinished.load(std::memory_order_relaxed) == 0) return nullptr;
  std::uint32_t own = region.local, count = std::min(region.threads_here, pool.room);
  Task* task = own < pool.room ? take(pool.queues[own], true, of) : nullptr;
  for (std::uint32_t i = own < pool.room ? 1 : 0; i < count && task == nullptr; ++i)
    task = take(pool.queues[(own + i) % count], false, of);
  return task;
}

// Runs a task that is a descendant of that one (nullptr: any). False: there is none.
bool help(const Task* of) {
  if (has_late_tasks() && advance_late_task(of)) return true;
  bool moves = region().moves_tasks;
  if (moves) lend_tasks(true);
  Task* task = take_queued(of);
  if (task == nullptr && moves) {
    take_back();
    task = take_lent(of);
  }
  if (task == nullptr) return moves && borrow(of);
  run(task);
  return true;
}

// This node is quiet. The first thread that finds it so tells the others.
bool are_others_quiet(std::uint64_t barrier) {
  std::uint64_t before = barrier - 1;
  if (announced.compare_exchange_strong(before, barrier)) {
    bool had_tasks = job_tasks.has_created.exchange(false, std::memory_order_relaxed);
    if (had_tasks) region_has_tasks.store(true, std::memory_order_relaxed);
    announce_quiet(barrier, had_tasks);
  }
  return is_all_quiet(barrier);
}

// Where no other thread could run a task, only an event can bring the end about.
template <typename IsOver>
void help_until(const Task* of, IsOver is_over) {
  Pause pause(region().threads_here);
  while (!is_over()) {
    if (help(of)) {
      pause.restart();
    } else if (!has_helpers() && has_late_tasks()) {
      await_fulfilment();
    } else {
      pause();
    }
  }
}

// The task and a copy of its variables behind it.
Task* make_task(const TaskCall& call) {
  std::size_t align =
      std::max<std::size_t>(static_cast<std::size_t>(call.alignment), alignof(std::max_align_t));
  std::size_t head = (sizeof(Task) + align - 1) / align * align;
  auto bytes = static_cast<std::size_t>(call.bytes);
  std::size_t all = (head + bytes + align - 1) / align * align;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(align, all));
  if (memory == nullptr) return nullptr;
  Task* task = new (memory) Task;
  task->function = call.function;
  task->data = memory + head;
  if (call.copy != nullptr) {
    call.copy(task->data, call.data);
  } else {
    std::memcpy(task->data, call.data, bytes);
  }
  if (call.bounds != nullptr) std::memcpy(task->data, call.bounds, 2 * sizeof call.bounds[0]);
  return task;
}

// It becomes one of the calling thread's task and group.
void count_task(Task* task) {
  Thread& me = this_thread();
  Task& parent = own_task();
  task->parent = &parent;
  task->group = me.group;
  task->pool = &own_pool();
  parent.references.fetch_add(1, std::memory_order_relaxed);
  parent.children.fetch_add(1, std::memory_order_relaxed);
  if (me.group != nullptr) tasks_of(*me.group).fetch_add(1, std::memory_order_relaxed);
  task->pool->unfinished.fetch_add(1, std::memory_order_relaxed);
}

// For the calling thread's queue, or to be run at once where there is no room.
void queue_task(Task* task) {
  count_task(task);
  if (!push(task)) run(task);
}

// Others may wait for its end: it is not to wait for those that it is lent with.
bool is_kept(const Task& one, const Task& other) {
  return one.late != nullptr || other.late != nullptr;
}

}  // namespace

TaskPool job_tasks{job_queues, kQueues};

Task* take_oldest(std::uint32_t at_most) {
  TaskPool& pool = job_tasks;
  if (pool.unfinished.load(std::memory_order_relaxed) == 0) return nullptr;
  std::uint32_t own = region().local, queues_here = pool.queues_used.load();
  for (std::uint32_t i = 0; i < queues_here; ++i) {
    Queue& queue = pool.queues[(own + i) % queues_here];
    std::uint32_t count = queue.count.load(std::memory_order_relaxed);
    if (count == 0) continue;
    Hold hold(queue.busy);
    count = queue.count.load(std::memory_order_relaxed);
    std::uint32_t taken = 0, most = std::min(at_most, (count + 1) / 2);
    Task* first = nullptr;
    for (Task** link = &first; taken < most; ++taken) {
      Task* task = queue.tasks[(queue.first + taken) % kRoom];
      bool fits = first == nullptr || (task->group == first->group &&
                                       task->parent == first->parent && !is_kept(*task, *first));
      if (!fits) break;
      *link = task;
      link = &task->next;
    }
    queue.first = (queue.first + taken) % kRoom;
    queue.count.store(count - taken, std::memory_order_relaxed);
    if (first != nullptr) return first;
  }
  return nullptr;
}

bool has_helpers() {
  const Region& own = region();
  return own.moves_tasks || (own.size > 1 && own.threads_here > 1 && program_has_tasks());
}

bool hand_out(Task* task) {
  own_pool().has_created.store(true, std::memory_order_relaxed);
  return push(task);
}

bool has_queued() {
  std::uint32_t count = job_tasks.queues_used.load(std::memory_order_relaxed);
  return std::any_of(job_queues, job_queues + count, [](const Queue& queue) {
    return queue.count.load(std::memory_order_relaxed) != 0;
  });
}

std::uint32_t queued_here() {
  const Queue* own = own_queue();
  return own != nullptr ? own->count.load(std::memory_order_relaxed) : 0;
}

void put_back(Task* first) {
  while (first != nullptr) {
    Task* task = std::exchange(first, first->next);
    task->next = nullptr;
    if (!push(task)) run(task);
  }
}

bool is_in_task() { return innermost != nullptr; }

Task* known_task() {
  return innermost == nullptr ? &implicit_task : static_cast<Task*>(innermost->task);
}

Task* begin_task(const TaskCall* call) {
  Task* task = call == nullptr ? make_bare_task() : make_task(*call);
  if (task == nullptr) terrane_program_fail("no memory for a task");
  task->is_bare = call == nullptr;
  task->controls = controls();
  task->is_final = call != nullptr && call->is_final;
  count_task(task);
  return task;
}

void run_body(Task* task) {
  Running running(task, task->group, task->controls, task->is_final);
  if (task->function != nullptr) task->function(task->data);
}

void finish(Task* first) {
  while (first != nullptr) {
    Task* task = std::exchange(first, first->next);
    if (task->late != nullptr && !late_task_ends(task)) continue;
    if (task->group != nullptr) tasks_of(*task->group).fetch_sub(1, std::memory_order_release);
    task->parent->children.fetch_sub(1, std::memory_order_release);
    TaskPool& pool = *task->pool;
    drop(task);
    pool.unfinished.fetch_sub(1, std::memory_order_release);
  }
}

void run_loan(const Task* first) {
  Task* loan = make_bare_task();
  loan->is_bare = true;
  loan->unit = first;
  loan->parent = &own_task();
  loan->parent->references.fetch_add(1, std::memory_order_relaxed);
  Thread& me = this_thread();
  Group group{first->group, first->group == nullptr ? nullptr : first->group->reductions};
  Group* around = std::exchange(me.group, &group);
  Frame frame{innermost, loan, depth() + 1};
  innermost = &frame;
  // A thread takes its newest task first: it begins with the oldest one of the loan, for which a
  // later one may wait.
  const Task* all[kMostOfALoan];
  std::uint32_t count = 0;
  for (const Task* theirs = first; theirs != nullptr; theirs = theirs->next) all[count++] = theirs;
  while (count > 0) {
    const Task* theirs = all[--count];
    Task* task = make_bare_task();
    task->is_bare = true;
    task->function = theirs->function;
    task->data = theirs->data;
    task->controls = theirs->controls;
    task->is_final = theirs->is_final;
    note_moved_task();
    queue_task(task);
  }
  await_group(group);
  innermost = frame.outer;
  me.group = around;
  drop(loan);
}

bool defer_task(const TaskCall& call) {
  TaskPool& pool = own_pool();
  if (!pool.has_created.load(std::memory_order_relaxed)) pool.has_created.store(true);
  const Queue* own = own_queue();
  if (!has_helpers() || this_thread().final_tasks != 0 || own == nullptr) return false;
  if (region().moves_tasks) lend_tasks(false);
  std::uint32_t most = std::max(kMostQueued >> std::min(depth(), 31u), kFewestQueued);
  if (own->count.load(std::memory_order_relaxed) >= most) return false;
  Task* task = make_task(call);
  if (task == nullptr) return false;
  task->controls = controls();
  task->is_final = call.is_final;
  queue_task(task);
  return true;
}

void enter_task(Frame& frame) {
  frame = {innermost, nullptr, depth() + 1};
  innermost = &frame;
  note_task();
}

void enter_implicit_task(Frame& frame) {
  frame = {innermost, nullptr, depth()};
  innermost = &frame;
}

void leave_task(Frame& frame) {
  innermost = frame.outer;
  drop(static_cast<Task*>(frame.task));
}

bool take_had_tasks() {
  bool created = job_tasks.has_created.exchange(false, std::memory_order_relaxed);
  return region_has_tasks.exchange(false, std::memory_order_relaxed) || created;
}

void await_children() {
  Task* own = known_task();
  if (own == nullptr) return;
  help_until(own, [&] { return own->children.load(std::memory_order_acquire) == 0; });
}

void await_group(Group& group) {
  auto is_over = [&] { return tasks_of(group).load(std::memory_order_acquire) == 0; };
  if (!is_over()) help_until(&own_task(), is_over);
}

void help_own_until(bool (*is_over)(const void*), const void* argument) {
  help_until(&own_task(), [&] { return is_over(argument); });
}

void await_all_tasks() {
  if (!has_helpers()) {
    if (has_late_tasks()) help_until(nullptr, [] { return !region_has_late_tasks(); });
    return;
  }
  bool moves = region().moves_tasks;
  std::uint32_t threads = region().threads_here;
  TaskPool& pool = own_pool();
  std::uint64_t barrier = pool.barriers_over.load(std::memory_order_acquire);
  std::uint64_t number = moves_over.load(std::memory_order_acquire) + 1;
  pool.come.fetch_add(1, std::memory_order_acq_rel);
  help_until(nullptr, [&] {
    if (pool.barriers_over.load(std::memory_order_acquire) != barrier) return true;
    bool all = pool.come.load(std::memory_order_acquire) == threads &&
               pool.unfinished.load(std::memory_order_acquire) == 0;
    if (all && moves) all = are_others_quiet(number);
    std::uint32_t expected = threads;
    if (all && pool.come.compare_exchange_strong(expected, 0, std::memory_order_acq_rel)) {
      if (moves) {
        if (any_had_tasks(number)) region_has_tasks.store(true, std::memory_order_relaxed);
        moves_over.store(number, std::memory_order_release);
      }
      pool.barriers_over.store(barrier + 1, std::memory_order_release);
    }
    return false;
  });
}

}  // namespace terrane::frontend::omp
