#pragma once

#include <cstdint>
#include <cstdio>

#include "frontend/threads/libraries.h"
#include "runtime/synchronisation_map.h"

// Locked instructions of the program and its libraries are served where they are: the page of the
// word in shared memory becomes a synchronisation page (runtime/node.h), and the instruction is
// executed as it is. So loads and stores of that page by ordinary instructions are in order, too.
namespace terrane::frontend::threads {

// Replaces them in all that is loaded, but for what `known` has, the C library and Terrane's own
// libraries, if the launcher has asked for it. Ends the process with a sentence where that cannot
// be. No thread of the program may run meanwhile, nor, of `found`, one of ours. Every node.
void serve_locked_code(const Libraries& found, const Libraries* known);

// Whether serve_locked_code() replaces anything here.
bool serves_atomics();

// Whether a word is shared, and its page no synchronisation page yet. Uses general registers alone.
bool is_unserved_word(std::uintptr_t address);
// The same, for locked instructions: see below.
bool is_served_word(std::uintptr_t address);
// And where this stream holds text, which goes out before another thread can see the change.
void send_before_atomics(const std::FILE* stream);
// Before the first call of that: the pages of this node, which stay.
void serve_words_beside(const runtime::SynchronisationMap& served);

}  // namespace terrane::frontend::threads
