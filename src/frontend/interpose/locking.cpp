// mlock(2) and its kin. Pages of shared memory come and go, so none is locked; and the whole
// reservation of a node, a terabyte and more, must never be made present at once.
#include <sys/mman.h>

#include <cerrno>

#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"

using terrane::frontend::next;
using terrane::frontend::SharedRange;

namespace {

bool touches_shared(const void* address, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(address);
  return SharedRange::contains(begin) || (bytes > 0 && SharedRange::contains(begin + bytes - 1));
}

// As the manual page has it: "some or all of the specified address range could not be locked".
int refuse() {
  errno = EAGAIN;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int mlock(const void* address, size_t bytes) noexcept {
  if (touches_shared(address, bytes)) return refuse();
  return next<"mlock">(::mlock)(address, bytes);
}

int mlock2(const void* address, size_t bytes, unsigned flags) noexcept {
  if (touches_shared(address, bytes)) return refuse();
  return next<"mlock2">(::mlock2)(address, bytes, flags);
}

// What is touched is locked, and nothing is touched for that.
int mlockall(int flags) noexcept {
  bool walks_reservation = SharedRange::exists() || (flags & MCL_FUTURE) != 0;
  return next<"mlockall">(::mlockall)(walks_reservation ? flags | MCL_ONFAULT : flags);
}

}  // extern "C"
#pragma GCC visibility pop
