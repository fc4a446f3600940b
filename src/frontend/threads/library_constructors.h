#pragma once

#include <vector>

#include "frontend/threads/libraries.h"
#include "platform/loader_calls.h"

// Constructors of libraries that the program opens after the start.
namespace terrane::frontend::threads {

// Those of libraries of one owner, in the order in which the loader would run them: first those of
// libraries that a library needs. `all` are what LoaderCalls has found.
std::vector<platform::Constructors> constructors_of(platform::ModuleOwner owner,
                                                    const Libraries& found,
                                                    const std::vector<platform::Constructors>& all);
// In the calling thread, as the loader does, with main's arguments.
void run_constructors(const std::vector<platform::Constructors>& constructors);

}  // namespace terrane::frontend::threads
