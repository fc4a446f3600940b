// What this library does before the program's main, and where a program opens libraries.

#include <dlfcn.h>
#include <pthread.h>

#include "membership/membership.h"
#include "runtime/shmem/statics.h"

// Of a sanitizer that the program holds itself: it has not begun yet, though it serves before
// malloc. A second call does nothing.
extern "C" [[gnu::weak]] void __asan_init();
extern "C" [[gnu::weak]] void __tsan_init();

namespace {

using terrane::runtime::shmem::Statics;

// Before all other constructors of the process, since the library is linked with -z initfirst: none
// has started a thread that could write to static data meanwhile
// (docs/decisions/0006-statics-by-remapping.md). Whatever else is to happen at a fork is registered
// later, and so happens to the child after it has its own data.
[[gnu::constructor(101)]] void take_statics() {
  if (__asan_init != nullptr) __asan_init();
  if (__tsan_init != nullptr) __tsan_init();
  terrane::membership::guard_descriptors();
  Statics::of_process().take_at_start();
  ::pthread_atfork([] { Statics::of_process().before_fork(); },
                   [] { Statics::of_process().after_fork_in_parent(); },
                   [] { Statics::of_process().after_fork_in_child(); });
}

}  // namespace

// In front of the C library's. It must end in a jump: the loader looks from where it is called for
// the folders in which to search.
extern "C" [[gnu::visibility("default")]] [[gnu::optimize("optimize-sibling-calls")]] void* dlopen(
    const char* file, int mode) noexcept {
  static auto* const next =
      reinterpret_cast<void* (*)(const char*, int)>(::dlsym(RTLD_NEXT, "dlopen"));
  Statics::of_process().note_opening(file, __builtin_return_address(0));
  return next(file, mode);
}
