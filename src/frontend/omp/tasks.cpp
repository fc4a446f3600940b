// Tasks. Those that may wait go to the queues of this node (task_queue.h). The others run at once
// in the thread that reaches them: so dependences hold in the order of the program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

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
};

using Copy = CopyVariables;

// The calling thread is in a task while this lives. The task has control variables of its own.
class InTask {
 public:
  explicit InTask(unsigned flags) : before_(controls()), is_final_((flags & kFinal) != 0) {
    Thread& me = this_thread();
    ++me.explicit_tasks;
    if (is_final_ || me.final_tasks != 0) ++me.final_tasks;
    enter_task(frame_);
  }
  ~InTask() {
    leave_task(frame_);
    Thread& me = this_thread();
    --me.explicit_tasks;
    if (me.final_tasks != 0) --me.final_tasks;
    me.controls = before_;
  }
  InTask(const InTask&) = delete;

 private:
  Controls before_;
  bool is_final_;
  Frame frame_;
};

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

// Tasks of a loop of so many iterations.
std::uint64_t task_count(std::uint64_t iterations, std::uint64_t wanted, unsigned flags) {
  std::uint64_t count = wanted;
  if ((flags & kGrainSize) != 0) count = iterations / std::max<std::uint64_t>(wanted, 1);
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
    std::uint64_t each = iterations / tasks, more = iterations % tasks;
    std::uint64_t from = i * each + std::min(i, more);
    std::uint64_t to = from + each + (i < more ? 1 : 0);
    std::uint64_t bounds[] = {start + from * step, start + to * step};
    bool is_final = (loop.flags & kFinal) != 0;
    if (loop.may_wait && defer_task({loop.function, loop.data, loop.copy, loop.bytes,
                                     loop.alignment, is_final, bounds}))
      continue;
    Variables own(loop.data, loop.copy, loop.bytes, loop.alignment);
    std::memcpy(own.get(), bounds, sizeof bounds);
    InTask task(loop.flags);
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

// The event of a task with the clause detach is a counter of the job, which grows by one when the
// event is fulfilled: each thread that creates such tasks has one, whose number is the handle.
constexpr std::uint32_t kFirstEvent = 3u << 24, kEventsOfANode = 1024;

std::uint32_t own_event() {
  return kFirstEvent + terrane_program_node() * kEventsOfANode + this_thread().local;
}

// The task's first variable is the handle.
void make_event(void* data, void* handle) {
  ++this_thread().detached;
  std::uintptr_t event = own_event();
  std::memcpy(handle, &event, sizeof event);
  if (data != nullptr) std::memcpy(data, &event, sizeof event);
}

}  // namespace

namespace terrane::frontend::omp {

void await_events() {
  Thread& me = this_thread();
  if (me.awaited == me.detached) return;
  me.awaited = me.detached;
  run_waiting_tasks();  // one of them may fulfil the event
  terrane_program_await(own_event(), static_cast<std::int64_t>(me.detached));
}

}  // namespace terrane::frontend::omp

extern "C" {

void GOMP_task(Function* function, void* data, Copy* copy, long bytes, long alignment,
               bool may_wait, unsigned flags, void**, int, void* handle) {
  if ((flags & (kDepend | kDetach)) != 0) may_wait = false;
  if (may_wait && defer_task({function, data, copy, bytes, alignment, (flags & kFinal) != 0}))
    return;
  if ((flags & kDepend) != 0) await_events();
  if ((flags & kDetach) != 0) make_event(data, handle);
  Variables own(data, copy, bytes, alignment);
  InTask task(flags);
  function(own.get());
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

void omp_fulfill_event(std::uintptr_t event) {
  terrane_program_add(static_cast<std::uint32_t>(event), 1);
}
void omp_fulfill_event_(const std::uintptr_t* event) { omp_fulfill_event(*event); }

void GOMP_taskwait() {
  await_events();
  await_children();
}
void GOMP_taskwait_depend(void**) { await_events(); }
void GOMP_taskwait_depend_nowait(void**) {}
void GOMP_taskyield() {}
void GOMP_taskgroup_start() { begin_group(); }
void GOMP_taskgroup_end() {
  await_events();
  if (this_thread().group != nullptr) await_group(*this_thread().group);
  end_group();
}

}  // extern "C"
