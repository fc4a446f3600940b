// What every program of a build with sanitizers tells them. ASAN_OPTIONS and the like come on top.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
#pragma GCC visibility push(default)

// A length that others name may ask for more memory than there is: that is answered, no fault.
const char* __asan_default_options() { return "allocator_may_return_null=1"; }

// LeakSanitizer stops all threads and reads their memory as a debugger does. It cannot where there
// is one already; and it dies, now and then, in a program of OpenSHMEM or chunks whose threads
// have served other hosts by UCX.
int __lsan_is_turned_off() {
  int tracer = 0;
  char line[256];
  std::FILE* status = std::fopen("/proc/self/status", "r");
  while (status && std::fgets(line, sizeof line, status))
    if (std::sscanf(line, "TracerPid: %d", &tracer) == 1) break;
  if (status) std::fclose(status);
  if (tracer != 0) return 1;
  bool served = ::dlsym(RTLD_DEFAULT, "shmem_init") != nullptr ||
                ::dlsym(RTLD_DEFAULT, "terrane_chunks_init") != nullptr;
  return served && ::dlopen("libucp.so.0", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

// Leaks of libraries that are not ours, each with its reason.
const char* __lsan_default_suppressions() {
  // PMIx_Init keeps a few names for as long as the process lives (PMIx 4.2).
  return "leak:libpmix.so\n";
}

// A page fault is a signal in the middle of the program's own code, never of malloc's: allocating
// there is safe. Signals of faults are ours; and libterrane's sigaction and sigaltstack cannot
// serve ThreadSanitizer's own start.
const char* __tsan_default_options() {
  return "report_signal_unsafe=0:use_sigaltstack=0:handle_segv=0:handle_sigbus=0:handle_sigill=0:"
         "handle_sigfpe=0";
}

// Races that are none, each with its reason.
const char* __tsan_default_suppressions() {
  // What a peer puts here is stored by whichever of our threads polls. That a thread may read it
  // follows from what the peer says afterwards, perhaps to another node.
  // As the process ends UCX's library gives up its lock while the thread that it has started itself
  // still runs (UCX 1.13). Nobody else has such locks; to name its library would hide our
  // receivers.
  return "race:ucp_put_handler\nrace:pthread_rwlock_destroy\n";
}

#pragma GCC visibility pop
}

#ifdef __SANITIZE_THREAD__
// UCX patches the C library's functions of memory, and so does ThreadSanitizer: a process with both
// dies in munmap. Over sockets UCX has no use for that.
__attribute__((constructor)) static void leave_memory_functions_alone() {
  ::setenv("UCX_MEM_EVENTS", "n", 0);
}
#endif
