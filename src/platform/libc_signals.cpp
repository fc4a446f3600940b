#include "platform/libc_signals.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>

#include "base/check.h"

namespace terrane::platform {
namespace {

template <typename Function>
void find(void* libc, const char* name, Function*& out) {
  out = reinterpret_cast<Function*>(dlsym(libc, name));
  TERRANE_CHECK(out != nullptr, "the C library has the functions of signals");
}

LibcSignals look_up() {
  void* libc = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  TERRANE_CHECK(libc != nullptr, "a C library is loaded");
  LibcSignals found{};
  find(libc, "sigaction", found.sigaction);
  find(libc, "pthread_sigmask", found.set_mask);
  find(libc, "sigaltstack", found.sigaltstack);
  dlclose(libc);
  return found;
}

}  // namespace

const LibcSignals& libc_signals() {
  static const LibcSignals found = look_up();
  return found;
}

}  // namespace terrane::platform
