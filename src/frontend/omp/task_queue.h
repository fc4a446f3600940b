#pragma once

#include <cstdint>

#include "frontend/omp/team.h"

// Tasks that wait until a thread runs them. Each thread has a queue for few of them: a task that
// finds no room runs at once, so memory is bounded. A thread takes its own newest task, else the
// oldest one of another thread of its node, else one of another node (task_moves.h).
namespace terrane::frontend::omp {

using CopyVariables = void(void*, void*);

struct TaskCall {
  Function* function;
  void* data;
  CopyVariables* copy;  // nullptr: the variables are copied byte by byte
  long bytes, alignment;
  bool is_final;
  const std::uint64_t* bounds = nullptr;  // two, which become the first of the copied variables
};

// Puts a task of the calling thread's task into its queue. False: the caller has to run it.
bool defer_task(const TaskCall& call);

// Whether a module of the program calls functions that create tasks.
bool program_has_tasks();
// Whether one calls omp_fulfill_event: tasks may wait for what only later ones bring about.
bool program_fulfils_events();
// Whether other threads could run a task of the calling thread.
bool has_helpers();
// A task that was begun, of the calling thread's region, is one for any thread now. False: there is
// no room.
bool hand_out(struct Task* task);

// Whether a thread of this node has created tasks since the last call, or one of another node
// before a barrier at which that was announced. By the master, outside of regions.
bool take_had_tasks();

// A task of the calling thread's task and group, which counts as one that has not ended until
// finish (task.h). nullptr: one without code.
struct Task* begin_task(const TaskCall* call);
// Runs its code in the calling thread.
void run_body(Task* task);

// Around a task that the calling thread runs at once, or a region within another one: those that it
// creates are its own.
struct Frame {
  Frame* outer = nullptr;
  void* task = nullptr;     // made when the task creates one that waits
  std::uint32_t depth = 1;  // tasks within each other
};
void enter_task(Frame& frame);
void enter_implicit_task(Frame& frame);
void leave_task(Frame& frame);
// Whether the calling thread is in another task than its implicit one.
bool is_in_task();
// The task that the calling thread is in; nullptr: it has created none that waits.
Task* known_task();

// Waits until the tasks that the calling thread's task has created have ended; those of the group
// and their descendants; all of the team's, and until all of its threads here have come.
// The waiting thread runs tasks; those of the first two are descendants of its own task.
void await_children();
void await_group(Group& group);
void await_all_tasks();
// Until that is so, which other tasks bring about.
void help_own_until(bool (*is_over)(const void*), const void* argument);
template <typename IsOver>
void help_own_until(const IsOver& is_over) {
  help_own_until([](const void* raw) { return (*static_cast<const IsOver*>(raw))(); }, &is_over);
}

}  // namespace terrane::frontend::omp
