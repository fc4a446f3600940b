#pragma once

#include "frontend/omp/dependences.h"
#include "frontend/omp/events.h"
#include "frontend/omp/task_queue.h"

// Tasks that have not ended when their thread goes on, without being in a queue: one with the
// clause detach, which has run, until its event is fulfilled; and one with depend, which has to
// wait for such a task. The thread that has created them keeps them, in their order, and runs them
// wherever it waits for tasks. Other tasks with depend run at once, so these are all that a task
// with depend can have to wait for.
namespace terrane::frontend::omp {

// Whether a new task of the calling thread's task with these dependences has to wait.
bool has_to_wait(const Dependences& dependences);
// Waits until it has not. Runs tasks meanwhile.
void await_dependences(const Dependences& dependences);
// The same for the list of a construct that is no task; nullptr: none.
void await_dependences(void* const* list);

// A task for later. The event's number may be 0.
void add_waiting_task(const TaskCall& call, Dependences dependences, const Event& event);
// The account of a task with an event that runs now: it has ended when the event is fulfilled.
// To be followed by add_running_task, behind its code.
struct Task* begin_running_task();
void add_running_task(Task* task, Dependences dependences, const Event& event);

// Goes on with a task of the calling thread that is a descendant of that one (nullptr: any).
// False: there is none that can go on.
bool advance_late_task(const Task* of);
// Whether the calling thread has such tasks; those of its region.
bool has_late_tasks();
bool region_has_late_tasks();

}  // namespace terrane::frontend::omp
