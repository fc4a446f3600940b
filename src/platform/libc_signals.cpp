#include "platform/libc_signals.h"

#include <dlfcn.h>

#include "base/check.h"

namespace terrane::platform {
namespace {

// The version that the C library's functions have had since it came to this machine; functions that
// others put in front of them have none. To look in the C library by dlopen would be plainer, but
// that starts it, without its environment, when it comes before its start (AddressSanitizer's).
#if defined(__x86_64__)
constexpr const char* kVersion = "GLIBC_2.2.5";
#elif defined(__aarch64__)
constexpr const char* kVersion = "GLIBC_2.17";
#else
constexpr const char* kVersion = "";
#endif

template <typename Function>
void find(const char* name, Function*& out) {
  void* found = dlvsym(RTLD_NEXT, name, kVersion);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  TERRANE_CHECK(found != nullptr, "the C library has the functions of signals");
  out = reinterpret_cast<Function*>(found);
}

LibcSignals look_up() {
  LibcSignals found{};
  find("sigaction", found.sigaction);
  find("pthread_sigmask", found.set_mask);
  find("sigaltstack", found.sigaltstack);
  return found;
}

}  // namespace

const LibcSignals& libc_signals() {
  static const LibcSignals found = look_up();
  return found;
}

}  // namespace terrane::platform
