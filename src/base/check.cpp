#include "base/check.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace terrane::base {

void check_failed(const char* condition, const char* file, int line, const char* why) noexcept {
  char text[512];
  int length = std::snprintf(text, sizeof text, "terrane: internal error at %s:%d: %s (%s)\n", file,
                             line, why, condition);
  if (length > 0) {
    auto size = static_cast<std::size_t>(length);
    [[maybe_unused]] auto ignored = ::write(2, text, size < sizeof text ? size : sizeof text - 1);
  }
  std::abort();
}

}  // namespace terrane::base
