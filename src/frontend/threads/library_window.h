#pragma once

#include <cstdint>

// Addresses at which libraries are loaded that the program opens after the start. Every node keeps
// them for that, so that a library lies at the same place on all.
namespace terrane::frontend::threads::library_window {

inline constexpr std::uintptr_t kBase = std::uintptr_t{5} << 44,
                                kEnd = kBase + (std::uintptr_t{4} << 30);

inline bool contains(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - kBase < kEnd - kBase;
}

// Maps them, without rights. False and errno: they are in use already. Before the program starts.
bool reserve();
bool is_reserved();

}  // namespace terrane::frontend::threads::library_window
