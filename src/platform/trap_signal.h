#pragma once

#include <cstdint>

#include "base/result.h"
#include "platform/signal_chain.h"

namespace terrane::platform {

// Where a thread goes on that has run into a one-byte trap (int3) at `site`; 0: the trap is the
// program's. In a signal handler.
using FindTrap = std::uintptr_t (*)(std::uintptr_t site);

// From now on traps that `find` knows lead where it says, with all registers as they are. SIGTRAP
// is then like the signals of faults: it is open in every thread, and all others go to the
// program's handler. x86-64 alone. Not thread-safe.
base::Result<void> serve_traps(FindTrap find);
bool serves_traps();
bool is_served_trap(std::uintptr_t site);

// What comes behind our handler of SIGTRAP; nullptr: there is none.
SignalChain* trap_chain();

}  // namespace terrane::platform
