#include "platform/kernel_refused.h"

#include <cstdlib>
#include <cstring>

#include "platform/signal_text.h"

namespace terrane::platform {

void kernel_refused(const char* what, std::uintptr_t address, int error_number) noexcept {
  SignalText text;
  text.add("terrane: the kernel refused ").add(what).add(" at ").add_hex(address).add(": ");
  const char* name = strerrorname_np(error_number);
  text.add(name != nullptr ? name : "unknown error").add("\n");
  text.write_to_stderr();
  std::abort();
}

}  // namespace terrane::platform
