// Tasks. Those that may wait go to the queues of this node (task_queue.h). The others run at once
// in the thread that reaches them: so dependences hold in the order of the program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "frontend/omp/in_task.h"
#include "frontend/omp/late_tasks.h"
#include "frontend/omp/reductions.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

enum Flag : unsigned {
  kFinal = 1u << 1,
  kDepend = 1u << 3,
  kCountsUp = 1u << 8,
  kGrainSize = 1u << 9,
  kIf = 1u << 10,
  kHasNoGroup = 1u << 11,
  kReduction = 1u << 12,
  kDetach = 1u << 13,
  kStrict = 1u << 14,
};

using Copy = CopyVariables;

// The task's own variables: a copy of what it is given, made by the compiler's function.
class Variables {
 public:
  Variables(void* data, Copy* copy, long bytes, long alignment) : data_(data) {
    if (copy == nullptr) return;
    auto align = std::max<std::size_t>(static_cast<std::size_t>(alignment), 16);
    memory_ =
        std::aligned_alloc(align, (static_cast<std::size_t>(bytes) + align - 1) / align * align);
    if (memory_ == nullptr) terrane_program_fail("no memory for a task's variables");
    copy(memory_, data);
    data_ = memory_;
  }
  ~Variables() {
    if (memory_ != nullptr) std::free(memory_);
  }
  Variables(const Variables&) = delete;
  void* get() const { return data_; }

 private:
  void* data_;
  void* memory_ = nullptr;
};

// All tasks but the last one have exactly as many iterations as the clause says.
bool is_strict(unsigned flags) { return (flags & kStrict) != 0 && (flags & kGrainSize) != 0; }

// Tasks of a loop of so many iterations.
std::uint64_t task_count(std::uint64_t iterations, std::uint64_t wanted, unsigned flags) {
  std::uint64_t count = wanted;
  if ((flags & kGrainSize) != 0)
    count = (iterations + (is_strict(flags) ? wanted - 1 : 0)) / std::max<std::uint64_t>(wanted, 1);
  if (wanted == 0) count = region().size;
  return std::clamp<std::uint64_t>(count, 1, iterations);
}

struct Loop {
  Function* function;
  void* data;
  Copy* copy;
  long bytes, alignment;
  unsigned flags;
  bool may_wait;
};

// The task's variables begin with the bounds of its part. A task without a function to copy them
// has none of its own.
void run_tasks(const Loop& loop, std::uint64_t wanted, std::uint64_t start, std::uint64_t step,
               std::uint64_t iterations) {
  if (iterations == 0) return;
  std::uint64_t tasks = task_count(iterations, wanted, loop.flags);
  for (std::uint64_t i = 0; i < tasks; ++i) {
    bool strict = is_strict(loop.flags);
    std::uint64_t each = strict ? wanted : iterations / tasks;
    std::uint64_t more = strict ? 0 : iterations % tasks;
    std::uint64_t from = i * each + std::min(i, more);
    std::uint64_t to = std::min(from + each + (i < more ? 1 : 0), iterations);
    std::uint64_t bounds[] = {start + from * step, start + to * step};
    bool is_final = (loop.flags & kFinal) != 0;
    if (loop.may_wait && defer_task({loop.function, loop.data, loop.copy, loop.bytes,
                                     loop.alignment, is_final, bounds}))
      continue;
    Variables own(loop.data, loop.copy, loop.bytes, loop.alignment);
    std::memcpy(own.get(), bounds, sizeof bounds);
    InTask task((loop.flags & kFinal) != 0);
    loop.function(own.get());
  }
}

void run_loop(const Loop& loop, std::uint64_t wanted, std::uint64_t start, std::uint64_t step,
              std::uint64_t iterations) {
  if ((loop.flags & kHasNoGroup) == 0) begin_group();
  // The address of the tables is behind the bounds.
  if ((loop.flags & kReduction) != 0)
    register_reductions(static_cast<std::uintptr_t**>(loop.data)[2], region().size);
  run_tasks(loop, wanted, start, step, iterations);
  if ((loop.flags & kHasNoGroup) != 0) return;
  await_group(*this_thread().group);
  end_group();
}

// What `detach` says: an event, whose handle goes to the program.
Event event_for(void* handle, void* data) {
  std::uint64_t made = 0;
  Event event = make_event(made);
  std::memcpy(handle, &made, sizeof made);
  if (data != nullptr) std::memcpy(data, &made, sizeof made);
  return event;
}

}  // namespace

namespace terrane::frontend::omp {

void run_or_keep(const TaskCall& call, bool may_wait, Dependences dependences, const Event& event) {
  bool waits = has_to_wait(dependences), may_be_kept = may_wait && this_thread().final_tasks == 0;
  if (may_be_kept && (waits || is_to_be_kept()))
    return add_waiting_task(call, std::move(dependences), event);
  if (waits) await_dependences(dependences);
  Task* account = event.number != 0 ? begin_running_task() : nullptr;
  {
    Variables own(call.data, call.copy, call.bytes, call.alignment);
    InTask task(call.is_final);
    if (call.function != nullptr) call.function(own.get());
  }
  if (account != nullptr) add_running_task(account, std::move(dependences), event);
}

void run_or_defer(const TaskCall& call, bool may_wait) {
  if (may_wait && defer_task(call)) return;
  Variables own(call.data, call.copy, call.bytes, call.alignment);
  InTask task(call.is_final);
  call.function(own.get());
}

}  // namespace terrane::frontend::omp

extern "C" {

void GOMP_task(Function* function, void* data, Copy* copy, long bytes, long alignment,
               bool may_wait, unsigned flags, void** dependences, int, void* handle) {
  TaskCall call{function, data, copy, bytes, alignment, (flags & kFinal) != 0};
  if ((flags & (kDepend | kDetach)) == 0) return run_or_defer(call, may_wait);
  bool detaches = (flags & kDetach) != 0 && handle != nullptr;
  run_or_keep(call, may_wait, Dependences((flags & kDepend) != 0 ? dependences : nullptr),
              detaches ? event_for(handle, data) : Event());
}

void GOMP_taskloop(Function* function, void* data, Copy* copy, long bytes, long alignment,
                   unsigned flags, unsigned long tasks, int, long start, long end, long step) {
  std::uint64_t iterations = 0;
  auto from = static_cast<std::uint64_t>(start), to = static_cast<std::uint64_t>(end);
  auto by = static_cast<std::uint64_t>(step);
  if (step > 0 && start < end) iterations = (to - from + by - 1) / by;
  if (step < 0 && start > end) iterations = (from - to - by - 1) / -by;
  run_loop({function, data, copy, bytes, alignment, flags, (flags & kIf) != 0}, tasks, from, by,
           iterations);
}

void GOMP_taskloop_ull(Function* function, void* data, Copy* copy, long bytes, long alignment,
                       unsigned flags, unsigned long tasks, int, unsigned long long start,
                       unsigned long long end, unsigned long long step) {
  std::uint64_t iterations = 0;
  bool up = (flags & kCountsUp) != 0;
  if (up && start < end) iterations = (end - start + step - 1) / step;
  if (!up && start > end) iterations = (start - end - step - 1) / -step;
  run_loop({function, data, copy, bytes, alignment, flags, (flags & kIf) != 0}, tasks, start, step,
           iterations);
}

void GOMP_taskwait() { await_children(); }
void GOMP_taskwait_depend(void** list) { await_dependences(list); }
void GOMP_taskwait_depend_nowait(void** list) {
  Dependences dependences(list);
  if (has_to_wait(dependences)) add_waiting_task({}, std::move(dependences), {});
}
void GOMP_taskyield() {}
void GOMP_taskgroup_start() { begin_group(); }
void GOMP_taskgroup_end() {
  if (this_thread().group != nullptr) await_group(*this_thread().group);
  end_group();
}

}  // extern "C"
