#pragma once

#include <cstddef>
#include <cstdint>

// Private memory of this node at addresses where no other node has any: a stream that lies here and
// is used by a thread of another node ends the program with a sentence, and loses nothing.
namespace terrane::frontend::threads::node_memory {

// nullptr: there is none left.
void* allocate(std::size_t bytes);
void free(void* block);
std::size_t bytes_of(const void* block);

inline constexpr std::uintptr_t kBase = std::uintptr_t{3} << 44, kBytes = std::uintptr_t{64} << 20;
inline constexpr std::uintptr_t kEnd = kBase + 1024 * kBytes;
inline bool contains(const void* block) {
  return reinterpret_cast<std::uintptr_t>(block) - kBase < kEnd - kBase;
}
// Which node has memory there.
inline std::uint32_t node_of(const void* block) {
  return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(block) - kBase) / kBytes);
}

}  // namespace terrane::frontend::threads::node_memory
