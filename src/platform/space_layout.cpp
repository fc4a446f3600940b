#include "platform/mapping.h"

// GCC says __SANITIZE_THREAD__; Clang says __has_feature(thread_sanitizer).
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TERRANE_TSAN_LAYOUT
#endif
#elif defined(__SANITIZE_THREAD__)
#define TERRANE_TSAN_LAYOUT
#endif

namespace terrane::platform {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

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

}  // namespace terrane::platform
