#include "bootstrap/foreign_launcher.h"

#include <cstdlib>

namespace terrane::bootstrap {
namespace {

// A variable in which a launcher says how many processes it started, and the command that would
// make them a job.
struct SizeVariable {
  const char* name;
  const char* launcher;
  const char* command;  // {} is how many
};

constexpr const char* kOwnCommand = "terrane run -n {} PROGRAM";
constexpr SizeVariable kSizeVariables[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", kOwnCommand},
    {"SLURM_STEP_NUM_TASKS", "srun", "srun --mpi=pmix -n {} PROGRAM"},
    {"MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun", kOwnCommand},
    {"FLUX_JOB_SIZE", "flux", kOwnCommand},
    {"JSM_NAMESPACE_SIZE", "jsrun", kOwnCommand},
    {"PMI_SIZE", "an MPI launcher (PMI)", kOwnCommand},
};

long number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return 0;
  char* end = nullptr;
  long number = std::strtol(text, &end, 10);
  return end != text && *end == '\0' ? number : 0;
}

}  // namespace

std::optional<base::Error> foreign_launcher() {
  for (const SizeVariable& variable : kSizeVariables) {
    long size = number_in(variable.name);
    if (size > 1) {
      return base::error(
          "this program was started by {} as one of {} processes and without PMIx, so they cannot "
          "wire up a Terrane job; start it with: {}",
          variable.launcher, size, fmt::format(fmt::runtime(variable.command), size));
    }
  }
  // Of PMIx the job's name is missing; a rank over 0 shows that there are several.
  if (number_in("PMIX_RANK") > 0) {
    return base::error(
        "PMIX_RANK says that this is process {} of several, but PMIX_NAMESPACE does not say of "
        "which; do not "
        "set either by hand, and start the program with: terrane run -n NODES PROGRAM",
        number_in("PMIX_RANK"));
  }
  return std::nullopt;
}

}  // namespace terrane::bootstrap
