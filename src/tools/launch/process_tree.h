#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace terrane::tools {

// Kills (SIGKILL) every living descendant of this process but `spare` and what descends from it, in
// one pass over /proc; returns how many there were. Since this process is a subreaper, nobody
// escapes by losing their parent.
std::size_t kill_descendants(pid_t spare);

// Passes of the same until nobody is left. False: some are still there after `patience_ms`.
bool kill_all_descendants(pid_t spare, std::uint64_t patience_ms);

// The wait status of the process behind a pidfd that is not our child and has been reaped by its
// parent (Linux 6.15).
std::optional<int> foreign_exit_status(int pidfd);

int open_pidfd(pid_t pid);
std::uint64_t now_ms();

}  // namespace terrane::tools
