#pragma once

#include "frontend/omp/dependences.h"
#include "frontend/omp/events.h"
#include "frontend/omp/task_queue.h"

// Tasks with depend or detach that have not ended when their thread goes on: one with the clause
// detach, which has run, until its event is fulfilled; one with depend, which has to wait for
// another one; and in a program that fulfils events all of them, since the thread that creates them
// may have to fulfil one later. That thread keeps them, in their order. As soon as nothing is in
// the way of one, any thread may run it. Other tasks with depend run at once, so these are all that
// a task with depend can have to wait for.
namespace terrane::frontend::omp {

// Whether a new task of the calling thread's task with these dependences has to wait.
bool has_to_wait(const Dependences& dependences);
// Whether it is kept, though nothing is in its way.
bool is_to_be_kept();
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
// The code of such a task is over, in any thread of the node of the one that keeps it. Whether the
// task has ended by that.
bool late_task_ends(Task* task);

// A task with depend or detach: runs at once where it may, else is kept. The event's number may be
// 0. It is in tasks.cpp, as is the next one: a task without either waits in a queue, or runs at
// once.
void run_or_keep(const TaskCall& call, bool may_wait, Dependences dependences, const Event& event);
void run_or_defer(const TaskCall& call, bool may_wait);

// Goes on with a task of the calling thread: runs one that is a descendant of that one (nullptr:
// any), or hands another one out. False: there is none that can go on.
bool advance_late_task(const Task* of);
// Whether the calling thread has such tasks; those of its region.
bool has_late_tasks();
bool region_has_late_tasks();

}  // namespace terrane::frontend::omp
