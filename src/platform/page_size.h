#pragma once

#include <unistd.h>

#include <cstdint>

namespace terrane::platform {

// The machine's page size in bytes: 4096 on x86-64, up to 65536 on aarch64. Async-signal-safe.
inline std::uint64_t page_bytes() {
  static const std::uint64_t bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace terrane::platform
