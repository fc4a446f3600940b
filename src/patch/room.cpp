#include "patch/room.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace terrane::patch {
namespace {

// A little less than a jump of 32 bits reaches, since trampolines are longer than their place.
constexpr std::uint64_t kFarthest = (std::uint64_t{1} << 31) - (1 << 24);
constexpr std::uint64_t kLowest = 1 << 16;  // no mapping may lie below
constexpr std::uint64_t kApart = 1 << 20;   // between a mapping that grows and ours

struct Gap {
  std::uint64_t begin, end;
};

// Free stretches of addresses, in order.
std::vector<Gap> gaps() {
  std::vector<Gap> all;
  std::uint64_t at = kLowest;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) != 2) continue;
    if (begin > at) all.push_back({at, begin});
    at = std::max(at, end);
    // The kernel lets the heap grow upwards.
    if (line.ends_with("[heap]")) at += kApart;
  }
  return all;
}

void* map_at(std::uint64_t address, std::uint64_t bytes) {
  void* wanted = reinterpret_cast<void*>(address);
  void* got = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted) return got;
  if (got != MAP_FAILED) ::munmap(got, bytes);
  return nullptr;
}

}  // namespace

// The highest place below the code comes first: what grows upwards begins above it.
void* map_near(std::uint64_t first, std::uint64_t last, std::uint64_t bytes) {
  std::uint64_t lowest = last > kFarthest ? last - kFarthest : 0, highest = first + kFarthest;
  std::vector<Gap> all = gaps();
  for (auto gap = all.rbegin(); gap != all.rend(); ++gap) {
    if (gap->end > first || gap->end - gap->begin < bytes || gap->end - bytes < lowest) continue;
    if (void* got = map_at(gap->end - bytes, bytes)) return got;
  }
  for (const Gap& gap : all) {
    if (gap.begin < last || gap.end - gap.begin < bytes || gap.begin + bytes > highest) continue;
    if (void* got = map_at(gap.begin, bytes)) return got;
  }
  errno = ENOMEM;
  return nullptr;
}

}  // namespace terrane::patch
