#pragma once

#include <sys/types.h>

#include <cstdint>

namespace terrane::tools {

// What a process of this host uses, its threads together. Zeros: it has gone.
struct ProcessUse {
  std::uint64_t at_ns = 0;         // CLOCK_MONOTONIC
  std::uint64_t processor_ns = 0;  // in steps of 10 ms
  std::uint64_t resident_bytes = 0;
};
ProcessUse process_use(pid_t pid);

}  // namespace terrane::tools
