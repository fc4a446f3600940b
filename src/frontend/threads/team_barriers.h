#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "frontend/threads/program.h"

namespace terrane::frontend::threads {

// The barriers of teams (for_teams.h). Those of a job have an arrival of each node. A node that
// lends its memory alone comes to each of them by a thread of ours, which sleeps. Where one node
// runs all threads, the barriers are in its memory, and no other node hears of them.

// How many there are, from number 1. Before the program starts.
void set_team_barriers(std::uint32_t count);
void team_barrier(const Program& program, std::uint32_t id, std::uint32_t threads_here);
void team_join(const Program& program, std::uint32_t id, std::uint32_t threads_here);
// main's thread gives bytes, or none; the others find them in `heard`.
void team_fork(const Program& program, std::uint32_t id, std::uint32_t threads_here,
               std::span<const std::byte> given, std::span<std::byte> heard);
// For a node that lends: from now on it comes to all of them.
void come_to_team_barriers(const Program& program);

}  // namespace terrane::frontend::threads
