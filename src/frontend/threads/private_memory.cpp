// What asks the kernel for memory, or for threads, past the program's own: memory that one node
// alone would have, and threads that Terrane does not know.
#include <sched.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "frontend/interpose/next.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

#pragma GCC visibility push(default)
extern "C" {

void* sbrk(intptr_t bytes) noexcept {
  if (bytes == 0 || !concerns_all_nodes()) return next<"sbrk">(::sbrk)(bytes);
  refused<"sbrk", int>(ENOMEM,
                       "it would give memory of the calling node alone; use malloc or mmap");
  return reinterpret_cast<void*>(-1);
}

void* shmat(int segment, const void* where, int flags) noexcept {
  if (!concerns_all_nodes()) return next<"shmat">(::shmat)(segment, where, flags);
  refused<"shmat", int>(ENOMEM,
                        "the segment would be memory of the calling node alone; threads share "
                        "what malloc or mmap gives");
  return reinterpret_cast<void*>(-1);
}

int personality(unsigned long kind) noexcept {
  constexpr unsigned long kAsks = 0xffffffff;
  if ((kind & kAsks) == kAsks || !concerns_all_nodes())
    return next<"personality">(::personality)(kind);
  return refused<"personality", int>(EPERM, "threads of other nodes would not have it");
}

// Those of posix_spawn and the like, which only make way for another program, may be.
int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list more;
  va_start(more, argument);
  auto* parent = va_arg(more, pid_t*);
  void* locals = va_arg(more, void*);
  auto* child = va_arg(more, pid_t*);
  va_end(more);
  if ((flags & CLONE_VFORK) != 0 || !concerns_all_nodes())
    return next<"clone">(::clone)(function, stack, flags, argument, parent, locals, child);
  return refused<"clone", int>(ENOSYS,
                               "the new thread or process would have no part in the program's "
                               "memory; use pthread_create or posix_spawn");
}

}  // extern "C"
#pragma GCC visibility pop
