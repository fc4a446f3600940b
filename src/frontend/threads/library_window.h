#pragma once

#include <cstdint>

// Addresses at which libraries are loaded that the program opens after the start. The kernel
// chooses where the loader maps a library: the first free place that is large enough. So that it is
// the same on all nodes, these addresses are kept free, and all others are taken while a library is
// loaded.
namespace terrane::frontend::threads::library_window {

inline constexpr std::uintptr_t kBase = std::uintptr_t{5} << 44,
                                kEnd = kBase + (std::uintptr_t{4} << 30);

inline bool contains(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - kBase < kEnd - kBase;
}

// Keeps the addresses free, from now on. False and errno: they are in use already. Before the
// program starts.
bool reserve();

// While it lives the kernel has no other place for what this process maps. By one thread at a time;
// threads that map memory meanwhile may get it here, and then a library lies elsewhere than on
// other nodes, which its loading notices.
class Opened {
 public:
  Opened();
  ~Opened();
  Opened(const Opened&) = delete;

 private:
  struct Range {
    std::uintptr_t begin, end;
  };
  static constexpr std::uint32_t kMost = 4096;

  bool fill_places(bool above);

  Range* filled_ = nullptr;  // in memory of its own
  std::uint32_t count_ = 0;
};

}  // namespace terrane::frontend::threads::library_window
