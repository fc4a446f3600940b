#pragma once

#include <signal.h>

namespace terrane::platform {

// The C library's own functions, past everything that interposes on them: our front-end takes these
// names for itself so that programs cannot close the signals of faults by mistake, and UCX takes
// sigaction so that nobody replaces its handlers.
struct LibcSignals {
  int (*sigaction)(int, const struct sigaction*, struct sigaction*);
  int (*set_mask)(int, const sigset_t*, sigset_t*);  // pthread_sigmask: an error number, or 0
  int (*sigaltstack)(const stack_t*, stack_t*);
};

// Looked up at the first call; async-signal-safe and cheap from then on.
const LibcSignals& libc_signals();

}  // namespace terrane::platform
