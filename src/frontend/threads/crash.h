#pragma once

namespace terrane::frontend::threads {

// From now on a signal that ends this node by default is explained in one sentence: the signal, the
// address, the thread, and the place in the program; and what standard output holds is written.
// Every node, before it has threads.
void report_crashes();

}  // namespace terrane::frontend::threads
