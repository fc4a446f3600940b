#pragma once

#include <cstdint>
#include <vector>

#include "frontend/omp/places.h"

// Threads of teams on places (places.h): those of a node on the places of that node.
namespace terrane::frontend::omp {

// Where OMP_PLACES or OMP_PROC_BIND asks for it: tells all nodes which places there are. By the
// master, outside of regions, before its first team.
void share_places();

// Binds the calling thread, which is number `thread` of the `threads` of a team on this node, to
// one of the places of `within`, and shows what it has where OMP_DISPLAY_AFFINITY asks for it and
// it has changed. `team`: how many threads the team has on all nodes.
void take_seat(Bind bind, std::uint32_t thread, std::uint32_t threads, std::uint32_t team,
               const Seat& within);
// The seat of a thread for which all places of the node are, and the calling thread's: its team's
// are in its places. return_to_seat: behind a region of the latter, whose master it was.
Seat whole_node();
Seat own_seat();
void return_to_seat(const Seat& before);

// How the next region is bound that has no clause of its own.
Bind next_bind();
// Controls::bind of the tasks of a region that the calling thread is about to enter: what
// OMP_PROC_BIND says of its level, else the clause.
std::uint32_t bind_within(unsigned clause);
// How a region is bound whose clause proc_bind has that number (0: none).
Bind bind_of_region(unsigned clause);

// What the program asks: places of all nodes, by their numbers.
std::uint32_t places_of_all();
const cpu_set_t* place_at(int number);  // nullptr: there is none
int own_place();                        // -1: the calling thread is not bound
void own_partition(std::uint32_t& first, std::uint32_t& count);

}  // namespace terrane::frontend::omp
