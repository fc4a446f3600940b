#pragma once

#include <cstdint>

namespace terrane::bench::scale {

// Bytes that the program has allocated, by whose work it was, and the most at once. One thread;
// memory_count.cpp replaces operator new.
class MemoryCount {
 public:
  static constexpr std::uint32_t kNobody = ~0u;
  static constexpr std::uint32_t kMost = 4096;

  static void clear();
  static void work_for(std::uint32_t node) { worker = node; }
  static std::int64_t most_of(std::uint32_t node) { return most[node]; }

  static std::uint32_t worker;
  static std::int64_t bytes[kMost];
  static std::int64_t most[kMost];
};

}  // namespace terrane::bench::scale
