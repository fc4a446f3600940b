#include "frontend/threads/library_window.h"

#include <sys/mman.h>

#include <cerrno>

#include "frontend/interpose/next.h"

namespace terrane::frontend::threads::library_window {

namespace {

bool reserved = false;

}  // namespace

bool reserve() {
  auto* at = reinterpret_cast<void*>(kBase);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* got = next<"mmap">(::mmap)(at, kEnd - kBase, PROT_NONE, kFlags, -1, 0);
  reserved = got == at;
  if (reserved) return true;
  if (got != MAP_FAILED) {
    next<"munmap">(::munmap)(got, kEnd - kBase);
    errno = EEXIST;
  }
  return false;
}

bool is_reserved() { return reserved; }

}  // namespace terrane::frontend::threads::library_window
