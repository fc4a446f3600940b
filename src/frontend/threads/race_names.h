#pragma once

#include "runtime/program_names.h"

namespace terrane::frontend::threads {

// Names the program's variables, allocations and lines for a report. Called where the
// program's environment can be read; what it returns does not read it.
runtime::ProgramNames program_names();
// The same while the program runs: symbols alone, without other processes that find lines.
runtime::ProgramNames live_names();

}  // namespace terrane::frontend::threads
