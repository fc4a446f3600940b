#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace stress {

inline std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  file >> number;
  return number;
}

// Leaves this process so many mappings more and no others: an area whose every second page is
// protected otherwise takes them.
inline void take_mappings(std::uint64_t spare) {
  std::ifstream maps("/proc/self/maps");
  auto used =
      static_cast<std::uint64_t>(std::count(std::istreambuf_iterator<char>(maps), {}, '\n'));
  std::uint64_t limit = number_in("/proc/sys/vm/max_map_count");
  if (limit < used + spare) return;
  std::uint64_t pages = limit - used - spare;
  void* area =
      mmap(nullptr, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return;
  for (std::uint64_t page = 1; page < pages; page += 2)
    mprotect(static_cast<char*>(area) + page * 4096, 4096, PROT_READ);
}

}  // namespace stress
