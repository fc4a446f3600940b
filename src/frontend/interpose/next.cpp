#include "frontend/interpose/next.h"

#include <dlfcn.h>

#include <string_view>

#include "base/check.h"

namespace terrane::frontend {

void* find_next(const char* name) {
  void* found = nullptr;
#if defined(__x86_64__)
  // The C library has older ones of the same name, which dlsym may find.
  if (std::string_view(name).starts_with("pthread_cond_"))
    found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  TERRANE_CHECK(found != nullptr,
                "the C library has every function that stands behind one of ours");
  return found;
}

void* find_next_if_any(const char* name) { return dlsym(RTLD_NEXT, name); }

}  // namespace terrane::frontend
