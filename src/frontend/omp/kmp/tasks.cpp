// Tasks, loops of tasks, groups of tasks, and what tasks depend on.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "frontend/omp/kmp/reductions.h"
#include "frontend/omp/kmp/task.h"
#include "frontend/omp/late_tasks.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp::kmp {
namespace {

Task* allocate(std::size_t bytes) {
  std::size_t whole = (sizeof(Header) + bytes + alignof(Header) - 1) & ~(alignof(Header) - 1);
  void* memory = std::aligned_alloc(alignof(Header), whole);
  if (memory == nullptr) terrane_program_fail("no memory for a task");
  auto* header = new (memory) Header{};
  header->bytes = bytes;
  return reinterpret_cast<Task*>(header + 1);
}

void free_task(Task* task) { std::free(&header_of(task)); }

void end_body(Task* task) {
  if ((header_of(task).flags & kHasDestructors) != 0 && task->destructors != nullptr)
    task->destructors(number_of_thread(), task);
}

// Calls a task's code, part after part. clang divides an untied task behind each task, taskwait and
// taskyield in it: the code hands the running task back as if it were a new one, and returns. The
// next call goes on there. The thread that begins a task runs all of its parts.
void run_parts(Task* task, bool first_has_run) {
  Header& header = header_of(task);
  header.has_started = true;
  if (!first_has_run) task->code(number_of_thread(), task);
  while (std::exchange(header.has_next_part, false)) task->code(number_of_thread(), task);
}

// Whether the calling code is that task's own, which has another part.
bool is_next_part(Task* task) {
  Header& header = header_of(task);
  if (header.has_started) header.has_next_part = true;
  return header.has_started;
}

// The code of a task, which has a pointer to it as its only variable.
void run_body(void* raw) {
  Task* task = *static_cast<Task**>(raw);
  run_parts(task, false);
  end_body(task);
  free_task(task);
}

TaskCall call_of(Task** task) {
  return {run_body,     static_cast<void*>(task), nullptr,
          sizeof *task, alignof(Task*),           (header_of(*task).flags & kFinal) != 0};
}

// Tasks of a loop: of so many iterations each, or so many of them.
enum Sizes : std::int32_t { kAnySize, kGrainSize, kTaskCount };

struct TaskLoop {
  Task* task;
  std::size_t first_at, last_at;  // where its bounds are in the task
  std::uint64_t first;
  std::int64_t step;
  void (*copy)(Task*, Task*, std::int32_t);
};

// How many tasks; all but the last one of a strict grain have `each` iterations.
std::uint64_t tasks_of(std::uint64_t count, Sizes kind, std::uint64_t size, bool strict) {
  if (kind == kAnySize || size == 0) size = region().size;
  if (kind == kGrainSize) size = strict ? (count + size - 1) / size : count / size;
  return std::clamp<std::uint64_t>(size, 1, count);
}

void make_part(const TaskLoop& loop, std::uint64_t from, std::uint64_t to, bool is_last,
               bool may_wait) {
  Task* part = copy_task(loop.task);
  auto at = [&](std::uint64_t i) { return loop.first + i * static_cast<std::uint64_t>(loop.step); };
  std::uint64_t bounds[] = {at(from), at(to - 1)};
  std::memcpy(reinterpret_cast<std::byte*>(part) + loop.first_at, &bounds[0], sizeof bounds[0]);
  std::memcpy(reinterpret_cast<std::byte*>(part) + loop.last_at, &bounds[1], sizeof bounds[1]);
  if (loop.copy != nullptr) loop.copy(part, loop.task, is_last ? 1 : 0);
  run_task(part, may_wait);
}

void run_loop(const TaskLoop& loop, std::uint64_t count, Sizes kind, std::uint64_t size,
              bool strict, bool may_wait) {
  if (count == 0) return;
  std::uint64_t tasks = tasks_of(count, kind, size, strict);
  bool exact = strict && kind == kGrainSize;
  std::uint64_t each = exact ? size : count / tasks, more = exact ? 0 : count % tasks;
  for (std::uint64_t i = 0; i < tasks; ++i) {
    std::uint64_t from = i * each + std::min(i, more);
    std::uint64_t to = std::min(from + each + (i < more ? 1 : 0), count);
    make_part(loop, from, to, to == count, may_wait);
  }
}

std::uint64_t iterations(std::uint64_t first, std::uint64_t last, std::int64_t step) {
  auto from = static_cast<std::int64_t>(first), to = static_cast<std::int64_t>(last);
  if (step > 0 && from <= to) return (last - first) / static_cast<std::uint64_t>(step) + 1;
  if (step < 0 && from >= to) return (first - last) / static_cast<std::uint64_t>(-step) + 1;
  return 0;
}

void taskloop(Task* task, bool may_wait, std::uint64_t* first, std::uint64_t* last,
              std::int64_t step, bool has_no_group, Sizes kind, std::uint64_t size, bool strict,
              void* copy) {
  auto offset = [task](const std::uint64_t* bound) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(bound) -
                                    reinterpret_cast<const std::byte*>(task));
  };
  TaskLoop loop{task,         offset(first),
                offset(last), *first,
                step,         reinterpret_cast<void (*)(Task*, Task*, std::int32_t)>(copy)};
  std::uint64_t count = iterations(*first, *last, step);
  if (!has_no_group) begin_group();
  run_loop(loop, count, kind, size, strict, may_wait);
  if (!has_no_group) {
    await_group(*this_thread().group);
    end_group();
  }
  end_body(task);
  free_task(task);
}

constexpr std::uint8_t kIn = 1, kOut = 2, kMutex = 4, kInSet = 8, kAllMemory = 0x80;
constexpr std::uintptr_t kKindOfInSet = 5;  // of an object that says what is depended on

}  // namespace

Task* make_task(std::size_t bytes, std::size_t shared_bytes, std::uint32_t flags, TaskCode* code) {
  constexpr std::size_t kWord = sizeof(void*);
  std::size_t own = (bytes + kWord - 1) / kWord * kWord;
  Task* task = allocate(own + shared_bytes);
  std::memset(static_cast<void*>(task), 0, own + shared_bytes);
  header_of(task).flags = flags;
  task->shared = shared_bytes == 0 ? nullptr : reinterpret_cast<std::byte*>(task) + own;
  task->code = code;
  return task;
}

Task* copy_task(Task* task) {
  const Header& from = header_of(task);
  Task* made = allocate(from.bytes);
  std::memcpy(static_cast<void*>(made), static_cast<const void*>(task), from.bytes);
  header_of(made).flags = from.flags;
  if (task->shared != nullptr)
    made->shared = reinterpret_cast<std::byte*>(made) +
                   (static_cast<std::byte*>(task->shared) - reinterpret_cast<std::byte*>(task));
  return made;
}

void run_task(Task* task, bool may_wait) {
  Event event = header_of(task).event;
  if (event.number != 0) return run_or_keep(call_of(&task), may_wait, {}, event);
  run_or_defer(call_of(&task), may_wait);
}

Dependences dependences_of(std::int32_t count, const Dependence* list, std::int32_t more,
                           const Dependence* others) {
  std::vector<void*> outs, mutexes, ins, objects;
  std::vector<std::uintptr_t> pairs;
  pairs.reserve(2 * static_cast<std::size_t>(std::max(count, 0) + std::max(more, 0)));
  auto add = [&](const Dependence& one) {
    auto* address = reinterpret_cast<void*>(one.address);
    if ((one.flags & kAllMemory) != 0) {
      outs.push_back(nullptr);
    } else if ((one.flags & kOut) != 0) {
      outs.push_back(address);
    } else if ((one.flags & kMutex) != 0) {
      mutexes.push_back(address);
    } else if ((one.flags & kInSet) != 0) {
      pairs.insert(pairs.end(), {one.address, kKindOfInSet});
      objects.push_back(&pairs[pairs.size() - 2]);
    } else if ((one.flags & kIn) != 0) {
      ins.push_back(address);
    }
  };
  for (std::int32_t i = 0; i < count; ++i) add(list[i]);
  for (std::int32_t i = 0; i < more; ++i) add(others[i]);
  std::size_t sizes[] = {outs.size() + mutexes.size() + ins.size() + objects.size(), outs.size(),
                         mutexes.size(), ins.size()};
  std::vector<void*> all{nullptr};
  for (std::size_t one : sizes) all.push_back(reinterpret_cast<void*>(one));
  for (const auto* part : {&outs, &mutexes, &ins, &objects})
    all.insert(all.end(), part->begin(), part->end());
  return Dependences(all.data());
}

}  // namespace terrane::frontend::omp::kmp

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;
using KmpTask = terrane::frontend::omp::kmp::Task;

extern "C" {

KmpTask* __kmpc_omp_task_alloc(const Ident*, Gtid, std::int32_t flags, std::size_t bytes,
                               std::size_t shared_bytes, TaskCode* code) {
  return make_task(bytes, shared_bytes, static_cast<std::uint32_t>(flags), code);
}
KmpTask* __kmpc_omp_target_task_alloc(const Ident*, Gtid, std::int32_t flags, std::size_t bytes,
                                      std::size_t shared_bytes, TaskCode* code, std::int64_t) {
  return make_task(bytes, shared_bytes, static_cast<std::uint32_t>(flags), code);
}

std::int32_t __kmpc_omp_task(const Ident*, Gtid, KmpTask* task) {
  if (!is_next_part(task)) run_task(task, true);
  return 0;
}
std::int32_t __kmpc_omp_task_parts(const Ident*, Gtid, KmpTask* task) {
  if (!is_next_part(task)) run_task(task, true);
  return 0;
}
std::int32_t __kmpc_omp_task_with_deps(const Ident*, Gtid, KmpTask* task, std::int32_t count,
                                       const Dependence* list, std::int32_t more,
                                       const Dependence* others) {
  if (count == 0 && more == 0) {
    run_task(task, true);
  } else {
    Event event = header_of(task).event;
    run_or_keep(call_of(&task), true, dependences_of(count, list, more, others), event);
  }
  return 0;
}
std::int32_t __kmpc_omp_reg_task_with_affinity(const Ident*, Gtid, KmpTask*, std::int32_t, void*) {
  return 0;
}

// A task whose code, or the first part of it, the compiler's code calls between these two.
void __kmpc_omp_task_begin_if0(const Ident*, Gtid, KmpTask* task) {
  Header& header = header_of(task);
  header.has_started = true;
  new (header.in_task) InTask((header.flags & kFinal) != 0);
}
void __kmpc_omp_task_complete_if0(const Ident*, Gtid, KmpTask* task) {
  run_parts(task, true);
  reinterpret_cast<InTask*>(header_of(task).in_task)->~InTask();
  end_body(task);
  free_task(task);
}

std::int32_t __kmpc_omp_taskwait(const Ident*, Gtid) {
  await_children();
  return 0;
}
std::int32_t __kmpc_omp_taskyield(const Ident*, Gtid, std::int32_t) { return 0; }
void __kmpc_omp_wait_deps(const Ident*, Gtid, std::int32_t count, const Dependence* list,
                          std::int32_t more, const Dependence* others) {
  await_dependences(dependences_of(count, list, more, others));
}
void __kmpc_omp_taskwait_deps_51(const Ident*, Gtid, std::int32_t count, const Dependence* list,
                                 std::int32_t more, const Dependence* others,
                                 std::int32_t has_no_wait) {
  Dependences dependences = dependences_of(count, list, more, others);
  if (has_no_wait == 0) return await_dependences(dependences);
  if (has_to_wait(dependences)) add_waiting_task({}, std::move(dependences), {});
}

void __kmpc_taskgroup(const Ident*, Gtid) { begin_group(); }
void __kmpc_end_taskgroup(const Ident*, Gtid) {
  Group* group = this_thread().group;
  if (group == nullptr) return;
  await_group(*group);
  end_reductions(*group);
  end_group();
}

void __kmpc_taskloop(const Ident*, Gtid, KmpTask* task, std::int32_t may_wait, std::uint64_t* first,
                     std::uint64_t* last, std::int64_t step, std::int32_t has_no_group,
                     std::int32_t kind, std::uint64_t size, void* copy) {
  taskloop(task, may_wait != 0, first, last, step, has_no_group != 0, static_cast<Sizes>(kind),
           size, false, copy);
}
void __kmpc_taskloop_5(const Ident*, Gtid, KmpTask* task, std::int32_t may_wait,
                       std::uint64_t* first, std::uint64_t* last, std::int64_t step,
                       std::int32_t has_no_group, std::int32_t kind, std::uint64_t size,
                       std::int32_t strict, void* copy) {
  taskloop(task, may_wait != 0, first, last, step, has_no_group != 0, static_cast<Sizes>(kind),
           size, strict != 0, copy);
}

// The handle of the event of a task with `detach`.
void* __kmpc_task_allow_completion_event(const Ident*, Gtid, KmpTask* task) {
  Header& header = header_of(task);
  header.event = make_event(header.handle);
  return reinterpret_cast<void*>(header.handle);
}

}  // extern "C"
