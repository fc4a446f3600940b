#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/omp/task.h"

// Tasks that move to other nodes. Each node has a page of shared memory, at home there, by which
// nodes ask for tasks and lend them (task_moves.cpp). A loan is some tasks of one group. Its end is
// reported when they and all that they have created have ended.
namespace terrane::frontend::omp {

// Allocates the pages' memory; called once by the master. Every node learns the address before
// tasks move.
void* make_mails();
void use_mails(void* mails);
// Whether tasks move between so many nodes.
bool may_tasks_move(std::uint32_t nodes);

// Lends the oldest tasks of this node's queues where other nodes want them. `waits`: the calling
// thread will create no more of them soon.
void lend_tasks(bool waits);
// A task that is lent and that no node has taken yet, if it is a descendant of that one (nullptr:
// any). It is not lent afterwards, and those with which it was lent are in the queue.
Task* take_lent(const Task* of);
// Ends those that other nodes have run.
void take_back();
// Runs tasks of another node. Of a task (nullptr: none), which waits for those that it has created:
// only parts of these. False: there are none yet.
bool borrow(const Task* of);

// The threads of this node have come to that barrier, and none of its tasks is left: the other
// nodes hear of it, and whether it had tasks since the barrier before. Barriers have numbers
// from 1.
void announce_quiet(std::uint64_t barrier, bool had_tasks);
// Whether all have announced it. any_had_tasks: behind such a barrier.
bool is_all_quiet(std::uint64_t barrier);
bool any_had_tasks(std::uint64_t barrier);

}  // namespace terrane::frontend::omp
