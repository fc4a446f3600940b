#pragma once

namespace terrane::platform {

// Whether instructions may lie in shared memory: for programs whose stacks are to be executable
// (PT_GNU_STACK). Set before the first mapping is created, and not changed then.
void make_views_executable();
bool views_are_executable();

// Whether rights to a view, as mprotect changes them, are what a fault source works by: the program
// must leave them alone.
void note_source_uses_rights();
bool source_uses_rights();

}  // namespace terrane::platform
