#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace terrane::bootstrap {

// Whether another launcher (mpirun, srun, ...) started this process as one of several: the error
// says so, with the command that works. Reads the environment only.
std::optional<base::Error> foreign_launcher();

// For a command that starts a job: the sentence where another launcher has started the command
// several times, so that each starts a job of its own. One of the processes has it, the first.
std::optional<std::string> copies_by_foreign_launcher();

}  // namespace terrane::bootstrap
