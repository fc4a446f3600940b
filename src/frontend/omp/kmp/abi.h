#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/omp/team.h"

// What clang, flang and Intel's compilers call for OpenMP: the functions __kmpc_*, over the same
// teams, loops and tasks as gcc's. Source: the interface that LLVM documents in "LLVM OpenMP
// Runtime Library" (kmp.h of the releases), as far as host programs use it.
namespace terrane::frontend::omp::kmp {

// A place in the program. Nothing here reads it.
struct Ident;
// The number of a thread, which compilers ask for and hand back: that of the calling thread in its
// team.
using Gtid = std::int32_t;

// A region's code. Behind the two numbers come as many words as the call of the region has.
using Microtask = void(Gtid*, Gtid*, ...);

// What clauses say of the next region or league of the calling thread.
struct Pushed {
  std::uint32_t threads = 0;
  unsigned bind = 0;
  std::uint32_t teams = 0, team_threads = 0;
};
Pushed& pushed();

inline Gtid number_of_thread() { return static_cast<Gtid>(region().number); }

// The dimensions of the doacross loop that comes next in the calling thread, if one does: its
// schedule is not known before the loop begins. Whether it was one.
bool begin_pending_doacross(const Plan& plan);

// What a schedule of this interface is for us.
Plan plan_of_schedule(std::int32_t schedule, std::uint64_t chunk);

}  // namespace terrane::frontend::omp::kmp
