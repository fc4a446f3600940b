#pragma once

namespace terrane::runtime {

// Another library may install its handler of SIGBUS or SIGSEGV by a way past the functions that
// stand in front of the C library's (a program that loads libterrane by dlopen has no other): the
// next fault would end the node. This puts such a handler behind ours, and says so once. Two system
// calls. Not in a signal handler.
void mend_displaced_handlers();

}  // namespace terrane::runtime
