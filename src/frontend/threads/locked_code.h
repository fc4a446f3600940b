#pragma once

#include "frontend/threads/libraries.h"

// Locked instructions of the program and its libraries are served where they are: on a word in
// shared memory each is a critical section of the job, as an atomic operation that the compiler
// left to a call is (pages/objects/atomics.cpp).
namespace terrane::frontend::threads {

// Replaces them in all that is loaded, but for what `known` has, the C library and Terrane's own
// libraries, if the launcher has asked for it. Ends the process with a sentence where that cannot
// be. No thread of the program may run meanwhile, nor, of `found`, one of ours. Every node.
void serve_locked_code(const Libraries& found, const Libraries* known);

// Whether a word is shared. Uses general registers alone.
bool is_shared_word(std::uintptr_t address);

}  // namespace terrane::frontend::threads
