#include "frontend/interpose/next.h"

#include <dlfcn.h>

#include "base/check.h"

namespace terrane::frontend {

void* find_next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  TERRANE_CHECK(found != nullptr,
                "the C library has every function that stands behind one of ours");
  return found;
}

}  // namespace terrane::frontend
