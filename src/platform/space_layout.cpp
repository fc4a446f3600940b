#include <link.h>
#include <sys/mman.h>

#include <cstring>

#include "platform/mapping.h"

// GCC says __SANITIZE_THREAD__; Clang says __has_feature(thread_sanitizer).
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TERRANE_TSAN_LAYOUT
#elif __has_feature(address_sanitizer)
#define TERRANE_ASAN_LAYOUT
#endif
#elif defined(__SANITIZE_THREAD__)
#define TERRANE_TSAN_LAYOUT
#elif defined(__SANITIZE_ADDRESS__)
#define TERRANE_ASAN_LAYOUT
#endif

namespace terrane::platform {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// Recognised by what valgrind loads into every program: that is there before the first constructor
// runs, when the C library has no environment yet.
bool under_valgrind() {
  auto is_valgrinds = [](dl_phdr_info* info, std::size_t, void*) {
    const char* name = info->dlpi_name;
    return name != nullptr && std::strstr(name, "/vgpreload_") != nullptr ? 1 : 0;
  };
  return ::dl_iterate_phdr(is_valgrinds, nullptr) != 0;
}

}  // namespace

// 0x200000000000 (32 TiB) lies far from where Linux puts programs, heaps, libraries and stacks, on
// x86-64 and on aarch64 with 48-bit addresses, and inside AddressSanitizer's "high" application
// memory. ThreadSanitizer allows application memory below 0x8000000000 (x86-64), hence the small
// space there.
SpaceLayout default_space_layout() {
#ifdef TERRANE_TSAN_LAYOUT
  return {0x2000000000u, 64 * kGiB};
#else
  return {0x200000000000u, 1024 * kGiB};
#endif
}

bool address_space_has(std::uint64_t bytes) {
  void* probe = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, bytes);
  return true;
}

std::uint64_t comfortable_mapping_bytes() {
  // Valgrind keeps a table entry for each 64 KiB, and has little address space to give.
  if (under_valgrind()) return kGiB / 8;
#if defined(TERRANE_TSAN_LAYOUT)
  return 4 * kGiB;
#elif defined(TERRANE_ASAN_LAYOUT)
  return 16 * kGiB;
#else
  return ~std::uint64_t{0};
#endif
}

}  // namespace terrane::platform
