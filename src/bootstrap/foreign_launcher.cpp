#include "bootstrap/foreign_launcher.h"

#include <cstdlib>

namespace terrane::bootstrap {
namespace {

// A variable in which a launcher says how many processes it started.
struct SizeVariable {
  const char* name;
  const char* launcher;
};

constexpr SizeVariable kSizeVariables[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
    {"SLURM_STEP_NUM_TASKS", "srun"},
    {"PMI_SIZE", "an MPI launcher (PMI)"},
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
          "this program was started by {} as one of {} processes, which cannot wire up a Terrane "
          "job; start it "
          "with: terrane run -n {} PROGRAM",
          variable.launcher, size, size);
    }
  }
  // PMIx names no size in the environment; a rank over 0 shows that there are several.
  if (number_in("PMIX_RANK") > 0) {
    return base::error(
        "this program was started by a PMIx launcher as process {} of several, which cannot wire "
        "up a Terrane job; "
        "start it with: terrane run -n NODES PROGRAM",
        number_in("PMIX_RANK"));
  }
  return std::nullopt;
}

}  // namespace terrane::bootstrap
