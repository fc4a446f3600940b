// Calls about libraries that the program opens: dlopen and its kin.
#include <dlfcn.h>

#include "frontend/interpose/next.h"
#include "frontend/threads/copies.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/opening.h"
#include "frontend/threads/program.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

using Open = void*(const char*, int);
using Look = void*(void*, const char*);

bool opens_for_program(const void* caller) {
  return Program::get() != nullptr && is_in_program() && !is_loading() &&
         libraries().allocates_shared(caller);
}

// The C library's own, which cannot be asked for by itself.
Look* next_dlsym() {
  static constinit Look* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (found == nullptr) found = reinterpret_cast<Look*>(::dlvsym(RTLD_NEXT, "dlsym", version));
  return found;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// These two must end in a jump where the call goes on to the C library: it looks at where it is
// called from.
[[gnu::optimize("optimize-sibling-calls")]] void* dlopen(const char*, int) noexcept;
[[gnu::optimize("optimize-sibling-calls")]] void* dlsym(void*, const char*) noexcept;

void* dlopen(const char* file, int mode) noexcept {
  const void* caller = __builtin_return_address(0);
  if (opens_for_program(caller) && (mode & RTLD_NOLOAD) == 0)
    return open_everywhere(file, mode, caller);
  Open* call = next<"dlopen">(::dlopen);
  return call(file, mode);
}

void* dlsym(void* handle, const char* name) noexcept {
  Look* call = next_dlsym();
  return call(own_handle(handle), name);
}

// The names of files lie in shared memory.
int dladdr(const void* address, Dl_info* info) noexcept {
  int found = next<"dladdr">(::dladdr)(address, info);
  if (found != 0 && concerns_all_nodes()) info->dli_fname = shared_text(info->dli_fname);
  return found;
}

int dladdr1(const void* address, Dl_info* info, void** more, int flags) noexcept {
  int found = next<"dladdr1">(::dladdr1)(address, info, more, flags);
  if (found != 0 && concerns_all_nodes()) info->dli_fname = shared_text(info->dli_fname);
  return found;
}

// A namespace of libraries has a C library of its own.
void* dlmopen(Lmid_t space, const char* file, int mode) noexcept {
  if (space == LM_ID_BASE) return ::dlopen(file, mode);
  if (!concerns_all_nodes() || !opens_for_program(__builtin_return_address(0)))
    return next<"dlmopen">(::dlmopen)(space, file, mode);
  refused<"dlmopen", int>(ENOTSUP,
                          "a second C library would know nothing of the program's memory and "
                          "threads; use dlopen");
  next<"dlopen">(::dlopen)("dlmopen is not served with threads on several nodes", RTLD_NOW);
  return nullptr;
}

// What the nodes share stays.
int dlclose(void* handle) noexcept {
  if (was_opened_everywhere(handle)) return 0;
  return next<"dlclose">(::dlclose)(handle);
}

int dlinfo(void* handle, int request, void* result) noexcept {
  return next<"dlinfo">(::dlinfo)(own_handle(handle), request, result);
}

}  // extern "C"
#pragma GCC visibility pop
