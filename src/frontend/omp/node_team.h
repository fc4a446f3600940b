#pragma once

#include <cstdint>

#include "frontend/omp/part.h"

// Teams of a node: those of regions within regions, and of regions that threads begin which the
// program has created itself. Its threads share the node's memory, so that no team is more than
// what lies here, in private memory. Workers are started when a region finds too few that are idle;
// behind their region they wait for the next one, of any master.
namespace terrane::frontend::omp {

class NodeTeam;

// A team for the calling thread and up to `wanted` - 1 others, as far as the control variable
// thread-limit-var leaves room on this node. nullptr: for no other.
NodeTeam* take_node_team(std::uint32_t wanted);
// Begins its region, which becomes the calling thread's: the team's master, which then runs its
// part, and joins. Afterwards the team is given back.
void fork_node(NodeTeam& team, const Parallel& parallel, Region& region);
void join_node(NodeTeam& team);

}  // namespace terrane::frontend::omp
