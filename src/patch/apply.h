#pragma once

#include <cstdint>

#include "base/result.h"
#include "patch/plan.h"

namespace terrane::patch {

// Whether the service is asked to change words itself (Service::change), for what it can.
enum class Changes : std::uint8_t { kInPlace, kByService };

// Carries out the plan of a file that the loader has mapped, having added `bias` to its addresses.
// The code is private to the process, and can be written by nobody afterwards. The service
// (entries.h) is set. No thread may run that code meanwhile; one thread at a time. An error:
// nothing is replaced, and it says why.
base::Result<> apply(const Plan& plan, std::uint64_t bias, const std::string& name,
                     Changes changes = Changes::kInPlace);

// Where a trap at this address goes on; 0: it is none of ours. In signal handlers, any thread.
std::uintptr_t trampoline_of(std::uintptr_t site);

}  // namespace terrane::patch
