#pragma once

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace terrane::bench {

// What all programs of this benchmark measure in the same way (message_rows_mpi.c repeats it in C),
// and how they print it.

inline constexpr std::array<std::size_t, 4> kLatencyBytes = {8, 64, 512, 4096};
inline constexpr std::array<std::size_t, 4> kStreamBytes = {64 << 10, 1 << 20, 16 << 20, 64 << 20};
inline constexpr std::uint64_t kRoundTrips = 3000;
inline constexpr std::uint64_t kSleptRoundTrips = 100;
inline constexpr std::uint32_t kSpins = 500;  // then the processor is given away once

// Few enough that a turn is short, many enough that it is measured well.
inline std::uint64_t stream_messages(std::size_t bytes) {
  return std::max<std::size_t>(3, (std::size_t{48} << 20) / bytes);
}

inline void print_row(const char* row, std::size_t bytes, const char* wait, double ns) {
  fmt::print("row={} bytes={} wait={} ns={:.1f}\n", row, bytes, wait, ns);
  std::fflush(stdout);
}

// A processor for each of the two processes, where there are two: the scheduler likes to put those
// who talk on the same one.
inline void take_own_processor(std::uint32_t self) {
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  std::uint32_t seen = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &usable) || seen++ != self) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    ::sched_setaffinity(0, sizeof own, &own);
  }
}

}  // namespace terrane::bench
