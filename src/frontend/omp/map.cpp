// Mappings of arrays (terrane/omp.h): each node touches the pages that are to have their homes
// there, before anybody has written them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "frontend/omp/job_team.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

constexpr unsigned kMostMapped = 7;  // dimensions
enum Distribution : int { kAll = 0, kBlock = 1 };

// In shared memory: all nodes read it.
struct Mapping {
  std::uintptr_t begin, end;
  std::size_t inner_bytes;  // of what lies behind one index of the dimension that is dealt
  std::size_t extent;       // of that dimension
  std::uint32_t threads;    // that it is dealt to
};

// Of arrays that were mapped. The number of their allocation tells whether one has been freed.
struct Mapped {
  std::uintptr_t begin, end;
  std::uint64_t allocation;
  Mapped* next;
};
Mapped* all_mapped = nullptr;

[[noreturn]] void refuse(const void* array, const std::string& why) {
  char place[32];
  std::snprintf(place, sizeof place, "%p", array);
  terrane_program_fail((std::string("terrane_map of the array at ") + place + ": " + why).c_str());
}

// As a static loop of all threads deals the indices.
std::uint32_t node_of(const Mapping& mapping, std::size_t index) {
  std::size_t each = mapping.extent / mapping.threads, more = mapping.extent % mapping.threads;
  std::size_t in_long = more * (each + 1);
  std::size_t thread = index < in_long ? index / (each + 1) : more + (index - in_long) / each;
  return node_of_thread(static_cast<std::uint32_t>(thread), mapping.threads);
}

// No page after its neighbour: a node that goes upwards or downwards claims the pages behind or
// before as well, which may be another node's.
void touch_own_pages(void* raw) {
  Mapping mapping = *static_cast<Mapping*>(raw);
  std::uint32_t self = terrane_program_node();
  std::uintptr_t bytes = terrane_program_page_bytes();
  std::uintptr_t lowest = mapping.begin / bytes, last = (mapping.end - 1) / bytes;
  for (std::uintptr_t odd : {std::uintptr_t{0}, std::uintptr_t{1}}) {
    for (std::uintptr_t page = lowest + odd; page <= last; page += 2) {
      std::uintptr_t first = std::max(page * bytes, mapping.begin);
      std::size_t index = (first - mapping.begin) / mapping.inner_bytes % mapping.extent;
      if (node_of(mapping, index) == self)
        terrane_program_touch(reinterpret_cast<const void*>(first));
    }
  }
}

// Refuses an array of which a part has been mapped, and not freed since.
void remember(const void* array, std::uintptr_t begin, std::uintptr_t end) {
  std::uint64_t allocation = terrane_program_allocation(array);
  if (allocation == 0) return;
  for (Mapped* one = all_mapped; one != nullptr; one = one->next)
    if (one->allocation == allocation && begin < one->end && one->begin < end)
      refuse(array, "it has been mapped before, and an array is mapped once");
  all_mapped = new Mapped{begin, end, allocation, all_mapped};
}

std::string problem_of(std::size_t element_bytes, unsigned dimensions, const std::size_t* extents,
                       const int* distributions) {
  if (dimensions == 0 || dimensions > kMostMapped) return "it must have 1 to 7 dimensions";
  if (element_bytes == 0) return "its elements have no bytes";
  unsigned blocks = 0;
  for (unsigned i = 0; i < dimensions; ++i) {
    if (extents[i] == 0) return "it has a dimension without elements";
    if (distributions[i] != kAll && distributions[i] != kBlock)
      return "a dimension is dealt by TERRANE_BLOCK or TERRANE_ALL";
    blocks += distributions[i] == kBlock ? 1 : 0;
  }
  return blocks == 1 ? "" : "exactly one dimension must be dealt by TERRANE_BLOCK";
}

}  // namespace
}  // namespace terrane::frontend::omp

using namespace terrane::frontend::omp;

extern "C" void terrane_omp_map(const void* array, std::size_t element_bytes, unsigned dimensions,
                                const std::size_t* extents, const int* distributions,
                                const char* known_problem) {
  std::string problem = known_problem != nullptr
                            ? known_problem
                            : problem_of(element_bytes, dimensions, extents, distributions);
  if (!problem.empty()) refuse(array, problem);
  if (!terrane_program_is_main() || this_thread().region != nullptr)
    refuse(array, "call it in main's thread, outside of parallel regions");
  Mapping mapping{};
  mapping.inner_bytes = element_bytes;
  std::size_t bytes = element_bytes;
  bool inside = true;  // of what the dealt dimension encloses, from the last dimension on
  for (unsigned i = dimensions; i-- > 0; bytes *= extents[i]) {
    if (distributions[i] == kBlock) {
      mapping.extent = extents[i];
      inside = false;
    } else if (inside) {
      mapping.inner_bytes *= extents[i];
    }
  }
  mapping.begin = reinterpret_cast<std::uintptr_t>(array);
  mapping.end = mapping.begin + bytes;
  const auto* last = static_cast<const std::byte*>(array) + bytes - 1;
  if (!terrane_program_is_shared(array) || !terrane_program_is_shared(last))
    refuse(array,
           "it is private memory (a threadprivate or constant one, or not the program's): map a "
           "global variable, or memory of malloc");
  remember(array, mapping.begin, mapping.end);
  mapping.threads = std::max(next_team_size(0), terrane_program_nodes());
  if (terrane_program_nodes() > 1) run_on_each_node(touch_own_pages, &mapping);
}
