#include "platform/guarded_copy.h"

#include <setjmp.h>

#include <atomic>
#include <cstring>

#include "base/check.h"

namespace terrane::platform {
namespace {

// A copy under way: what it may touch, and where it goes on when it may not.
struct Guard {
  jmp_buf way_out;
  std::uintptr_t from, to;
  std::size_t bytes;
  Guard* earlier;  // of a copy that a signal interrupted
};
thread_local Guard* current __attribute__((tls_model("initial-exec"))) = nullptr;

template <typename Copy>
bool guarded(void* to, const void* from, std::size_t bytes, Copy copy) {
  Guard guard;
  guard.from = reinterpret_cast<std::uintptr_t>(from);
  guard.to = reinterpret_cast<std::uintptr_t>(to);
  guard.bytes = bytes;
  guard.earlier = current;
  if (_setjmp(guard.way_out) != 0) {
    current = current->earlier;
    return false;
  }
  current = &guard;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  bool done = copy();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  current = guard.earlier;
  return done;
}

}  // namespace

bool guarded_copy(void* to, const void* from, std::size_t bytes) {
  return guarded(to, from, bytes, [=] {
    std::memcpy(to, from, bytes);
    return true;
  });
}

bool guarded_copy_string(char* to, const char* from, std::size_t capacity) {
  return guarded(to, from, capacity, [=] {
    for (std::size_t at = 0; at < capacity; ++at) {
      to[at] = from[at];
      if (to[at] == '\0') return true;
    }
    return false;
  });
}

bool is_guarded(std::uintptr_t address) {
  const Guard* guard = current;
  return guard != nullptr &&
         (address - guard->from < guard->bytes || address - guard->to < guard->bytes);
}

void fail_guarded_copy() {
  TERRANE_CHECK(current != nullptr, "a guarded copy is under way");
  _longjmp(current->way_out, 1);
}

}  // namespace terrane::platform
