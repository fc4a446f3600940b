#include "frontend/omp/task_queue.h"

#include <elf.h>
#include <link.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

constexpr std::uint32_t kQueues = 256;     // threads of a node that have one
constexpr std::uint32_t kMostQueued = 64;  // tasks of a queue

// A task, until it has ended and those that it has created have.
struct Task {
  Task* parent = nullptr;
  Function* function = nullptr;
  void* data = nullptr;
  Group* group = nullptr;
  Controls controls;
  bool is_final = false;
  bool is_bare = false;                      // without variables, of a task that runs at once
  std::atomic<std::uint32_t> children{0};    // that have not ended
  std::atomic<std::uint32_t> references{1};  // its own, and those of its children
};

struct alignas(64) Queue {
  std::atomic<bool> busy{false};
  std::atomic<std::uint32_t> count{0};
  std::uint32_t first = 0;
  Task* tasks[kMostQueued] = {};
};

Queue queues[kQueues];
std::atomic<std::uint32_t> unfinished{0};  // tasks of this node's queues that have not ended
// The threads here that have come to the barrier at hand, and how many barriers are over.
std::atomic<std::uint32_t> come{0};
std::atomic<std::uint64_t> barriers_over{0};
thread_local Task* current = nullptr;  // nullptr: the implicit task of the thread
thread_local Task implicit_task;

Task& current_task() { return current == nullptr ? implicit_task : *current; }

// A thread that finds nothing to do gives its processor away, and then sleeps, longer and longer.
class Pause {
 public:
  void operator()() {
    if (++times_ < kSpins) {
      __builtin_ia32_pause();
    } else if (times_ < kYields) {
      ::sched_yield();
    } else {
      ::usleep(sleep_us_);
      sleep_us_ = std::min(2 * sleep_us_, kLongestSleepUs);
    }
  }
  void renew() { *this = Pause(); }

 private:
  static constexpr std::uint32_t kSpins = 64, kYields = 96, kLongestSleepUs = 500;
  std::uint32_t times_ = 0, sleep_us_ = 20;
};

class Hold {
 public:
  explicit Hold(Queue& queue) : queue_(queue) {
    Pause pause;
    while (queue.busy.exchange(true, std::memory_order_acquire)) pause();
  }
  ~Hold() { queue_.busy.store(false, std::memory_order_release); }
  Hold(const Hold&) = delete;

 private:
  Queue& queue_;
};

bool is_descendant(const Task* task, const Task* of) {
  for (const Task* parent = task->parent; parent != nullptr; parent = parent->parent)
    if (parent == of) return true;
  return false;
}

bool push(Queue& queue, Task* task) {
  Hold hold(queue);
  std::uint32_t count = queue.count.load(std::memory_order_relaxed);
  if (count == kMostQueued) return false;
  queue.tasks[(queue.first + count) % kMostQueued] = task;
  queue.count.store(count + 1, std::memory_order_relaxed);
  return true;
}

// The newest task, or the oldest one, if it is a descendant of that task (nullptr: any).
Task* take(Queue& queue, bool newest, const Task* of) {
  if (queue.count.load(std::memory_order_relaxed) == 0) return nullptr;
  Hold hold(queue);
  std::uint32_t count = queue.count.load(std::memory_order_relaxed);
  if (count == 0) return nullptr;
  Task* task = queue.tasks[(queue.first + (newest ? count - 1 : 0)) % kMostQueued];
  if (of != nullptr && !is_descendant(task, of)) return nullptr;
  if (!newest) queue.first = (queue.first + 1) % kMostQueued;
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

void run(Task* task) {
  Thread& me = this_thread();
  Task* before = std::exchange(current, task);
  Group* group = std::exchange(me.group, task->group);
  Controls controls = std::exchange(me.controls, task->controls);
  std::uint32_t finals = std::exchange(me.final_tasks, task->is_final ? 1u : 0u);
  std::uint32_t explicits = std::exchange(me.explicit_tasks, 1u);
  task->function(task->data);
  me.explicit_tasks = explicits;
  me.final_tasks = finals;
  me.controls = controls;
  me.group = group;
  current = before;
  if (task->group != nullptr) tasks_of(*task->group).fetch_sub(1, std::memory_order_release);
  task->parent->children.fetch_sub(1, std::memory_order_release);
  drop(task);
  unfinished.fetch_sub(1, std::memory_order_release);
}

// Runs a task that is a descendant of that one (nullptr: any). False: there is none in the queues.
bool help(const Task* of) {
  std::uint32_t own = this_thread().local, threads = region().threads_here;
  Task* task = own < kQueues ? take(queues[own], true, of) : nullptr;
  for (std::uint32_t i = 1; i < threads && task == nullptr; ++i) {
    std::uint32_t other = (own + i) % threads;
    if (other < kQueues) task = take(queues[other], false, of);
  }
  if (task == nullptr) return false;
  run(task);
  return true;
}

template <typename IsOver>
void help_until(const Task* of, IsOver is_over) {
  Pause pause;
  while (!is_over()) {
    if (help(of)) {
      pause.renew();
    } else {
      pause();
    }
  }
}

// Whether a module of the program calls functions that create tasks.
bool creates_tasks(const dl_phdr_info& info) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  std::uintptr_t symbols = 0, names = 0;
  std::size_t bytes = 0;
  auto at = [&](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr < info.dlpi_addr ? info.dlpi_addr + entry.d_un.d_ptr : entry.d_un.d_ptr;
  };
  for (const ElfW(Dyn)* entry = dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = at(*entry);
    if (entry->d_tag == DT_STRTAB) names = at(*entry);
    if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
  }
  // The names follow the symbols, and nothing else says how many symbols there are.
  if (symbols == 0 || names <= symbols) return false;
  auto* symbol = reinterpret_cast<const ElfW(Sym)*>(symbols);
  std::string_view text(reinterpret_cast<const char*>(names), bytes);
  for (std::size_t i = 1; i < (names - symbols) / sizeof *symbol; ++i) {
    if (symbol[i].st_shndx != SHN_UNDEF || symbol[i].st_name >= bytes) continue;
    std::string_view name = text.substr(symbol[i].st_name);
    name = name.substr(0, name.find('\0'));
    if (name == "GOMP_task" || name == "GOMP_taskloop" || name == "GOMP_taskloop_ull") return true;
  }
  return false;
}

bool program_has_tasks() {
  static const bool has = ::dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                                               void*) { return creates_tasks(*info) ? 1 : 0; },
                                            nullptr) != 0;
  return has;
}

// Whether other threads of this node could run a task of the calling thread.
bool has_helpers() {
  const Region& own = region();
  return own.size > 1 && own.threads_here > 1 && program_has_tasks();
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

}  // namespace

bool defer_task(const TaskCall& call) {
  Thread& me = this_thread();
  if (!has_helpers() || me.final_tasks != 0 || me.local >= kQueues) return false;
  Queue& queue = queues[me.local];
  if (queue.count.load(std::memory_order_relaxed) == kMostQueued) return false;
  Task* task = make_task(call);
  if (task == nullptr) return false;
  Task& parent = current_task();
  task->parent = &parent;
  task->group = me.group;
  task->controls = controls();
  task->is_final = call.is_final;
  parent.references.fetch_add(1, std::memory_order_relaxed);
  parent.children.fetch_add(1, std::memory_order_relaxed);
  if (me.group != nullptr) tasks_of(*me.group).fetch_add(1, std::memory_order_relaxed);
  unfinished.fetch_add(1, std::memory_order_relaxed);
  if (!push(queue, task)) run(task);  // only the calling thread adds: there is room
  return true;
}

void* enter_task() {
  if (!has_helpers()) return nullptr;
  Task* task = make_bare_task();
  task->is_bare = true;
  task->parent = &current_task();
  task->parent->references.fetch_add(1, std::memory_order_relaxed);
  current = task;
  return task;
}

void leave_task(void* entered) {
  if (entered == nullptr) return;
  auto* task = static_cast<Task*>(entered);
  current = task->parent == &implicit_task ? nullptr : task->parent;
  drop(task);
}

void await_children() {
  Task& own = current_task();
  help_until(&own, [&] { return own.children.load(std::memory_order_acquire) == 0; });
}

void await_group(Group& group) {
  help_until(&current_task(), [&] { return tasks_of(group).load(std::memory_order_acquire) == 0; });
}

void await_all_tasks() {
  if (!has_helpers()) return;
  std::uint32_t threads = region().threads_here;
  std::uint64_t barrier = barriers_over.load(std::memory_order_acquire);
  come.fetch_add(1, std::memory_order_acq_rel);
  help_until(nullptr, [&] {
    if (barriers_over.load(std::memory_order_acquire) != barrier) return true;
    bool all = come.load(std::memory_order_acquire) == threads &&
               unfinished.load(std::memory_order_acquire) == 0;
    std::uint32_t expected = threads;
    if (all && come.compare_exchange_strong(expected, 0, std::memory_order_acq_rel))
      barriers_over.store(barrier + 1, std::memory_order_release);
    return false;
  });
}

}  // namespace terrane::frontend::omp
