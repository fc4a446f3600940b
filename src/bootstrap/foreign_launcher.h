#pragma once

#include <optional>

#include "base/result.h"

namespace terrane::bootstrap {

// Whether another launcher (mpirun, srun, ...) started this process as one of several: the error
// says so, with the command that works. Reads the environment only.
std::optional<base::Error> foreign_launcher();

}  // namespace terrane::bootstrap
