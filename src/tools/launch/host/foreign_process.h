#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

// What can be learned of processes that are not our children.
namespace terrane::tools {

// The daemon of the launcher (mpirun, orted, slurmstepd) that started the process: its nearest
// ancestor that is not of the same PMIx job; a wrapper is. 0 where it is unknown.
pid_t foreign_launcher_of(pid_t pid);

// The wait status of a process that has ended, whether or not its parent has taken it in. nullopt:
// its parent was faster, and the kernel (before 6.15) does not tell afterwards.
std::optional<int> foreign_wait_status(pid_t pid, int pidfd);

// Of its command, "process" where it has gone.
std::string process_name(pid_t pid);

}  // namespace terrane::tools
