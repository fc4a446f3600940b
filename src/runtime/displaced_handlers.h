#pragma once

namespace terrane::runtime {

// Another library may have installed its own handler of SIGBUS or SIGSEGV in place of Terrane's, so
// that the next fault would end the node. That is possible if the library bypasses the functions by
// which Terrane replaces the C library's (a program that loads libterrane by dlopen has none of
// them). Puts such a handler behind Terrane's own, and logs that once. Makes two system calls. Not
// for a signal handler.
void mend_displaced_handlers();

}  // namespace terrane::runtime
