#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace terrane::runtime {

// Beginnings of the names of allocations that are mappings of the program.
inline constexpr std::string_view kMappedFile = "file ", kMappedMemory = "map ";

// What a page is to the program: a block of malloc or terrane_alloc, static data, a mapping, or a
// stack.
enum class ProgramMemory : std::uint8_t { kAllocated, kStatic, kMapping, kStack, kCount };

// By the name of its allocation.
ProgramMemory program_memory_of(std::string_view allocation);

// What a node keeps, in bytes, and what it did because its memory was full, in pages.
struct MemoryLine {
  std::uint64_t homes[static_cast<std::size_t>(ProgramMemory::kCount)] = {};
  std::uint64_t copies = 0, limit = ~0ull;
  std::uint64_t given = 0, taken = 0, evicted = 0, refetched = 0;
};

// Two lines of a report; one for a node that was never full.
std::string memory_text(const MemoryLine& line);

}  // namespace terrane::runtime
