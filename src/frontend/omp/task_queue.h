#pragma once

#include <cstdint>

#include "frontend/omp/team.h"

// Tasks that wait until a thread of this node runs them. Each thread has a queue for few of them: a
// task that finds no room runs at once, so memory is bounded. A thread takes its own newest task,
// else the oldest one of another thread of its node.
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

// Around a task that the calling thread runs at once: those that it creates are its own. Result:
// for leave_task.
void* enter_task();
void leave_task(void* entered);

// Waits until the tasks that the calling thread's task has created have ended; those of the group
// and their descendants; all of this node's, and until all of the team's threads here have come.
// The waiting thread runs tasks; those of the first two are descendants of its own task.
void await_children();
void await_group(Group& group);
void await_all_tasks();

}  // namespace terrane::frontend::omp
