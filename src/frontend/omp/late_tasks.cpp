#include "frontend/omp/late_tasks.h"

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "frontend/omp/task.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {

// kRunsElsewhere: it is in a queue, or in any thread of any node.
struct Late {
  enum State : std::uint32_t { kWaits, kRuns, kRunsElsewhere, kHasRun, kHasEnded };
  std::atomic<State> state;
  Task* task;          // until it has ended
  const Task* parent;  // its
  Dependences dependences;
  Event event;
  const Region* region;
  std::atomic<bool>* has_run;  // its thread's
  Late* next = nullptr;
};

namespace {

// Of the calling thread, in the order of their creation.
thread_local Late* first = nullptr;
thread_local std::uint32_t count = 0;
// One of them has run in another thread: its event may have been fulfilled before.
thread_local std::atomic<bool> has_run{false};

constexpr std::uint32_t kMostKept = 256;  // more run at once where they may

Late* append(Late::State state, Task* task, Dependences dependences, const Event& event) {
  auto* late = new (std::nothrow)
      Late{state, task, task->parent, std::move(dependences), event, &region(), &has_run};
  if (late == nullptr) terrane_program_fail("no memory for a task with depend or detach");
  Late** link = &first;
  while (*link != nullptr) link = &(*link)->next;
  ++count;
  return *link = late;
}

void remove(Late* late) {
  Late** link = &first;
  while (*link != late) link = &(*link)->next;
  *link = late->next;
  --count;
  delete late;
}

// The acquired state carries what the thread that has run the task wrote.
Late::State state_of(const Late* late) { return late->state.load(std::memory_order_acquire); }

// Whether one that was created before `until`, by that task, is in the way.
bool is_blocked(const Dependences& dependences, const Task* parent, const Late* until) {
  for (const Late* late = first; late != until; late = late->next)
    if (late->parent == parent && state_of(late) != Late::kHasEnded &&
        dependences.wait_for(late->dependences))
      return true;
  return false;
}

void end(Late* late) {
  Task* task = late->task;
  if (late->event.number != 0) give_back(late->event);
  remove(late);
  task->late = nullptr;
  finish(task);
}

// Its code is over. The event may be fulfilled already, and that have been seen.
void end_or_await(Late* late) {
  late->state = Late::kHasRun;
  if (late->event.number == 0 || is_fulfilled(late->event)) end(late);
}

void run_late(Late* late) {
  late->state = Late::kRuns;
  run_body(late->task);
  end_or_await(late);
}

// Those that have run and whose events are fulfilled; those that have ended. False: there is none.
bool end_fulfilled() {
  bool any = false;
  for (Late *late = first, *next; late != nullptr; late = next) {
    next = late->next;
    Late::State state = state_of(late);
    if (state == Late::kHasEnded) {
      remove(late);
    } else if (state == Late::kHasRun && is_fulfilled(late->event)) {
      end(late);
      any = true;
    }
  }
  return any;
}

bool waits_for_events() {
  for (const Late* late = first; late != nullptr; late = late->next)
    if (state_of(late) == Late::kHasRun) return true;
  return false;
}

// Any thread may run it.
bool offer(Late* late) {
  if (late->region != &region() || !has_helpers()) return false;
  late->task->late = late;
  late->state = Late::kRunsElsewhere;
  if (hand_out(late->task)) return true;
  late->state = Late::kWaits;
  late->task->late = nullptr;
  return false;
}

}  // namespace

bool has_to_wait(const Dependences& dependences) {
  return first != nullptr && is_blocked(dependences, known_task(), nullptr);
}

bool is_to_be_kept() { return program_fulfils_events() && has_helpers() && count < kMostKept; }

void await_dependences(const Dependences& dependences) {
  if (!has_to_wait(dependences)) return;
  help_own_until([&] { return !has_to_wait(dependences); });
}

void await_dependences(void* const* list) {
  if (first != nullptr && list != nullptr) await_dependences(Dependences(list));
}

void add_waiting_task(const TaskCall& call, Dependences dependences, const Event& event) {
  Task* task = begin_task(&call);
  Late* late = append(Late::kWaits, task, std::move(dependences), event);
  if (is_to_be_kept() && !is_blocked(late->dependences, late->parent, late)) offer(late);
}

Task* begin_running_task() { return begin_task(nullptr); }

void add_running_task(Task* task, Dependences dependences, const Event& event) {
  end_or_await(append(Late::kRuns, task, std::move(dependences), event));
}

bool late_task_ends(Task* task) {
  Late* late = task->late;
  bool ends = late->event.number == 0;
  std::atomic<bool>* owners = late->has_run;
  late->state.store(ends ? Late::kHasEnded : Late::kHasRun, std::memory_order_release);
  owners->store(true, std::memory_order_release);
  return ends;
}

bool advance_late_task(const Task* of) {
  bool looks = has_run.exchange(false, std::memory_order_acquire);
  looks = (waits_for_events() && may_have_fulfilled()) || looks;
  if (looks && end_fulfilled()) return true;
  for (Late* late = first; late != nullptr; late = late->next) {
    if (state_of(late) != Late::kWaits || is_blocked(late->dependences, late->parent, late))
      continue;
    if (late->task->pool != region().tasks) continue;  // a task of a team around this one
    bool fits = of == nullptr || is_descendant(late->task, of);
    if (!fits && !offer(late)) continue;
    if (fits) run_late(late);
    return true;
  }
  return false;
}

bool has_late_tasks() { return first != nullptr; }

bool region_has_late_tasks() {
  for (const Late* late = first; late != nullptr; late = late->next)
    if (late->region == &region() && state_of(late) != Late::kHasEnded) return true;
  return false;
}

}  // namespace terrane::frontend::omp
