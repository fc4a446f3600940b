#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

// What the sides share: frames that carry the time when they were whole, and rows.
namespace terrane::bench::frames {

inline std::uint64_t now_ns() {
  timespec time;
  ::clock_gettime(CLOCK_MONOTONIC, &time);  // the same for all processes of a host
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// All of it is written; the last thing is the time.
inline void fill(char* frame, std::size_t bytes, int number) {
  std::memset(frame, number & 127, bytes);
  std::uint64_t now = now_ns();
  std::memcpy(frame, &now, sizeof now);
}

// Since it was whole; call when it may be read. Looks that it is the right one.
inline std::uint64_t age_ns(const char* frame, std::size_t bytes, int number) {
  std::uint64_t now = now_ns(), then = 0;
  if (frame[bytes - 1] != static_cast<char>(number & 127)) std::abort();
  std::memcpy(&then, frame, sizeof then);
  return now - then;
}

inline std::uint64_t percentile(std::vector<std::uint64_t>& values, double part) {
  if (values.empty()) return 0;
  auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Of this subscriber; the slowest of them counts.
inline void print_readable(std::size_t bytes, std::vector<std::uint64_t>& ages) {
  std::printf("row=readable bytes=%zu ns=%lu\n", bytes,
              static_cast<unsigned long>(percentile(ages, 0.5)));
  std::fflush(stdout);
}

}  // namespace terrane::bench::frames
