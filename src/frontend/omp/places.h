#pragma once

#include <sched.h>

#include <cstdint>
#include <string>
#include <vector>

// Places of OpenMP: the sets of processors that threads are bound to. OMP_PLACES speaks of the
// processors that a node may use, on each node; the places of the program are those of all nodes,
// in the order of the nodes. Nodes of a host that may use the same processors share its places.
namespace terrane::frontend::omp {

using Places = std::vector<cpu_set_t>;

// What OMP_PLACES describes, of the processors in `usable`; places without any are left out. Empty
// text: a place for each processor. False: the text has another form.
bool parse_places(const std::string& text, const cpu_set_t& usable, Places& out);

// The part of a host's places that one of several nodes has, which share them: blocks, or one each
// in turn where they are fewer.
Places share_of_places(const Places& all, std::uint32_t node, std::uint32_t nodes);

// Which places a thread of a team gets: it runs on `place`, and its own teams have those from
// `first` on.
enum class Bind : std::uint32_t { kFalse, kTrue, kMaster, kClose, kSpread };
struct Seat {
  std::uint32_t place, first, count;
};
// The thread is number `thread` of the `threads` that the team has on this node, whose places are
// `places`, at least one.
Seat seat_of(Bind bind, std::uint32_t thread, std::uint32_t threads, std::uint32_t places);
// The same for a team whose master has the seat `within`, and whose places are the master's. Its
// first thread stays there, unless the team is spread over them.
Seat seat_within(const Seat& within, Bind bind, std::uint32_t thread, std::uint32_t threads);

}  // namespace terrane::frontend::omp
