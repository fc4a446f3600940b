#pragma once

#include <cstdint>

#include "base/result.h"
#include "platform/fault_source.h"

namespace terrane::platform {

// The processor time that the calling thread has used. Async-signal-safe; a system call.
std::uint64_t processor_ns();

// The processor time of a fault outside of its handler, in nanoseconds: the kernel's, and that of
// the way to the handler and back. Measured now, by some hundred faults of the calling thread.
base::Result<std::uint64_t> fault_cost_ns(FaultSourceKind kind);

}  // namespace terrane::platform
