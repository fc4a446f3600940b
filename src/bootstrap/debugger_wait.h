#pragma once

#include <cstdint>

#include "base/result.h"

namespace terrane::bootstrap {

// Returns once a debugger has attached to this process. Calls only what a child of fork may call.
void wait_for_debugger();

// For a node that another launcher started: waits for a debugger if TERRANE_DEBUG=wait is in the
// environment, after a line on standard error that says how to attach one. Errors: another value.
base::Result<> wait_for_debugger_if_asked(std::uint32_t node);

}  // namespace terrane::bootstrap
