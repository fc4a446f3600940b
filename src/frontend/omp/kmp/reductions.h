#pragma once

#include "frontend/omp/team.h"

namespace terrane::frontend::omp::kmp {

// Adds the threads' copies of the variables of a group's task reductions to them, and frees the
// copies. The tasks of the group have ended.
void end_reductions(Group& group);

}  // namespace terrane::frontend::omp::kmp
