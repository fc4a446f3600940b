#pragma once

#include "frontend/omp/team.h"

// Which regions create tasks. In those that do, the nodes tell each other at each barrier that they
// have none left; in others that would be in vain. For the master.
namespace terrane::frontend::omp {

// Whether tasks of the next region of that function may move between nodes.
bool expects_tasks(Function* function);
// Whether a thread of any node created tasks in a region of that function that has ended.
void note_tasks(Function* function, bool had_tasks);

}  // namespace terrane::frontend::omp
