#include "frontend/omp/late_tasks.h"

#include <new>
#include <utility>

#include "frontend/omp/task.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

struct Late {
  enum State { kWaits, kRuns, kHasRun };
  State state;
  Task* task;
  Dependences dependences;
  Event event;
  const Region* region;
  Late* next = nullptr;
};

// Of the calling thread, in the order of their creation.
thread_local Late* first = nullptr;

Late* append(Late::State state, Task* task, Dependences dependences, const Event& event) {
  auto* late = new (std::nothrow) Late{state, task, std::move(dependences), event, &region()};
  if (late == nullptr) terrane_program_fail("no memory for a task with depend or detach");
  Late** link = &first;
  while (*link != nullptr) link = &(*link)->next;
  *link = late;
  return late;
}

void remove(Late* late) {
  Late** link = &first;
  while (*link != late) link = &(*link)->next;
  *link = late->next;
  delete late;
}

// Whether one that was created before `until`, by that task, is in the way.
bool is_blocked(const Dependences& dependences, const Task* parent, const Late* until) {
  for (const Late* late = first; late != until; late = late->next)
    if (late->task->parent == parent && dependences.wait_for(late->dependences)) return true;
  return false;
}

void end(Late* late) {
  Task* task = late->task;
  if (late->event.number != 0) give_back(late->event);
  remove(late);
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

// Those that have run and whose events are fulfilled. False: there is none.
bool end_fulfilled() {
  bool any = false;
  for (Late *late = first, *next; late != nullptr; late = next) {
    next = late->next;
    if (late->state != Late::kHasRun || !is_fulfilled(late->event)) continue;
    end(late);
    any = true;
  }
  return any;
}

bool waits_for_events() {
  for (const Late* late = first; late != nullptr; late = late->next)
    if (late->state == Late::kHasRun) return true;
  return false;
}

}  // namespace

bool has_to_wait(const Dependences& dependences) {
  return first != nullptr && is_blocked(dependences, known_task(), nullptr);
}

void await_dependences(const Dependences& dependences) {
  if (!has_to_wait(dependences)) return;
  help_own_until([&] { return !has_to_wait(dependences); });
}

void await_dependences(void* const* list) {
  if (first != nullptr && list != nullptr) await_dependences(Dependences(list));
}

void add_waiting_task(const TaskCall& call, Dependences dependences, const Event& event) {
  Task* task = begin_task(&call);
  append(Late::kWaits, task, std::move(dependences), event);
}

Task* begin_running_task() { return begin_task(nullptr); }

void add_running_task(Task* task, Dependences dependences, const Event& event) {
  end_or_await(append(Late::kRuns, task, std::move(dependences), event));
}

bool advance_late_task(const Task* of) {
  if (waits_for_events() && may_have_fulfilled() && end_fulfilled()) return true;
  for (Late* late = first; late != nullptr; late = late->next) {
    bool fits = late->state == Late::kWaits && (of == nullptr || is_descendant(late->task, of));
    if (!fits || is_blocked(late->dependences, late->task->parent, late)) continue;
    run_late(late);
    return true;
  }
  return false;
}

bool has_late_tasks() { return first != nullptr; }

bool region_has_late_tasks() {
  for (const Late* late = first; late != nullptr; late = late->next)
    if (late->region == &region()) return true;
  return false;
}

}  // namespace terrane::frontend::omp
