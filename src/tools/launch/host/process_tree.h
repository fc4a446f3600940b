#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace terrane::tools {

// Kills (SIGKILL) every living descendant of this process but those in `spared` and what descends
// from them, in one pass over /proc; returns how many there were. Since this process is a
// subreaper, nobody escapes by losing their parent.
std::size_t kill_descendants(std::span<const pid_t> spared);

// Passes of the same until nobody is left, sparing nobody. False: some are still there after
// `patience_ms`. Blocks.
bool kill_all_descendants(std::uint64_t patience_ms);

// Whether the process has begun to end, or has ended.
bool is_exiting(pid_t pid);

// Whether the process is stopped by a signal, and not by a debugger.
bool is_stopped(pid_t pid);

// The wait status of the process behind a pidfd that is not our child and has been reaped by its
// parent (Linux 6.15).
std::optional<int> foreign_exit_status(int pidfd);

int open_pidfd(pid_t pid);

}  // namespace terrane::tools
