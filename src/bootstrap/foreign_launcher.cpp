#include "bootstrap/foreign_launcher.h"

#include <algorithm>
#include <cstdlib>

namespace terrane::bootstrap {
namespace {

// The variables in which a launcher says how many processes it started and which one this is, and
// the command that would make them a job.
struct Launcher {
  const char* name;
  const char* size;
  const char* rank;
  const char* command;  // {} is how many
};

constexpr const char* kOwnCommand = "terrane run -n {} PROGRAM";
constexpr Launcher kLaunchers[] = {
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", kOwnCommand},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun --mpi=pmix -n {} PROGRAM"},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", kOwnCommand},
    {"flux", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", kOwnCommand},
    {"jsrun", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", kOwnCommand},
    {"an MPI launcher (PMI)", "PMI_SIZE", "PMI_RANK", kOwnCommand},
};

long number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (!text) return 0;
  char* end = nullptr;
  long number = std::strtol(text, &end, 10);
  return end != text && *end == '\0' ? number : 0;
}

// Several processes of one launcher.
struct Several {
  const char* launcher;
  const char* command;
  long size;  // at least
  long rank;
};

// MPICH's mpiexec with -pmi-port says the size to those alone that ask at the port.
std::optional<Several> several_at_a_port() {
  if (std::getenv("PMI_PORT") == nullptr) return std::nullopt;
  long rank = std::max(number_in("PMI_ID"), number_in("PMI_RANK"));
  long size = std::max(number_in("MPI_LOCALNRANKS"), rank + 1);
  if (size < 2) return std::nullopt;
  return Several{"MPICH's mpiexec (-pmi-port)", kOwnCommand, size, rank};
}

std::optional<Several> several() {
  for (const Launcher& one : kLaunchers) {
    long size = number_in(one.size);
    if (size > 1) return Several{one.name, one.command, size, number_in(one.rank)};
  }
  return several_at_a_port();
}

}  // namespace

std::optional<base::Error> foreign_launcher() {
  if (auto found = several()) {
    return base::error(
        "this program was started by {} as one of {} processes and without PMIx, so they cannot "
        "wire up a Terrane job; start it with: {}",
        found->launcher, found->size, fmt::format(fmt::runtime(found->command), found->size));
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

std::optional<std::string> copies_by_foreign_launcher() {
  auto found = several();
  if (!found || found->rank != 0) return std::nullopt;
  return fmt::format(
      "{} has started this command {} times, and each of them starts a job of its own; for one job "
      "start it once, without {}",
      found->launcher, found->size, found->launcher);
}

}  // namespace terrane::bootstrap
