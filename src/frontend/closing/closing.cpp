// Takes the place of the C library's functions that close descriptors which their caller may know
// nothing of. The node's own stay open: to close them answers EBADF, as if they were not there, and
// to put something in their place EBUSY. Each front-end has these functions, since the loader finds
// those of libterrane_runtime, with which no program is linked itself, behind the C library's.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>

#include "frontend/interpose/elsewhere.h"
#include "membership/membership.h"
#include "platform/signal_text.h"

namespace {

using terrane::frontend::call_elsewhere;
using terrane::frontend::duplicate_elsewhere;
using terrane::frontend::duplicated;
using terrane::frontend::duplicates_elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::membership::own_descriptors;

// What opens descriptors for us, and closes them. Their names begin so.
constexpr std::string_view kHelpers[] = {"libterrane", "libuc",   "libpmix",     "libevent",
                                         "libopen-",   "libmpi",  "libibverbs.", "librdmacm.",
                                         "libmlx",     "libnl-3", "libprrte"};

bool is_helper(const void* caller) {
  Dl_info info{};
  if (::dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return false;
  std::string_view name = info.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);
  return std::ranges::any_of(kHelpers, [&](std::string_view one) { return name.starts_with(one); });
}

// False: the caller goes on, and the descriptor is ours no more.
bool is_kept(int fd, const void* caller) {
  if (!own_descriptors().owns(fd)) return false;
  if (!is_helper(caller)) return true;
  own_descriptors().give_up(fd);
  return false;
}

void tell_once(const char* call, int fd) {
  static std::atomic<bool> told{false};
  if (told.exchange(true)) return;
  int before = errno;
  terrane::platform::SignalText text;
  text.add("terrane: ").add(call).add(": descriptor ").add_decimal(static_cast<std::uint64_t>(fd));
  text.add(" is the job's and stays open; close only what the program has opened itself\n");
  text.write_to_stderr();
  errno = before;
}

template <typename Function>
Function* behind(std::atomic<Function*>& known, const char* name) {
  Function* found = known.load(std::memory_order_relaxed);
  if (found != nullptr) return found;
  found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  known.store(found, std::memory_order_relaxed);
  return found;
}

using Close = int(int);
using CloseRange = int(unsigned, unsigned, int);
using Dup2 = int(int, int);
using Dup3 = int(int, int, int);
constinit std::atomic<Close*> next_close{nullptr};
constinit std::atomic<CloseRange*> next_close_range{nullptr};
constinit std::atomic<Dup2*> next_dup2{nullptr};
constinit std::atomic<Dup3*> next_dup3{nullptr};

int refuse(const char* call, int fd, int error) {
  tell_once(call, fd);
  errno = error;
  return -1;
}

// All but the node's own. Descriptors that are closed in programs alone may be anybody's.
int close_others(const char* call, unsigned first, unsigned last, int flags) {
  CloseRange* next = behind(next_close_range, "close_range");
  if ((flags & CLOSE_RANGE_CLOEXEC) != 0 || first > last) return next(first, last, flags);
  while (auto own = own_descriptors().first_from(first, last)) {
    tell_once(call, *own);
    auto here = static_cast<unsigned>(*own);
    if (here > first) {
      if (int result = next(first, here - 1, flags); result != 0) return result;
    }
    if (here == last) return 0;
    first = here + 1;
  }
  return next(first, last, flags);
}

}  // namespace

#define TERRANE_IN_FRONT extern "C" [[gnu::visibility("default")]]

TERRANE_IN_FRONT int close(int fd) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::close, fd);
  if (is_kept(fd, __builtin_return_address(0))) return refuse("close", fd, EBADF);
  return behind(next_close, "close")(fd);
}

TERRANE_IN_FRONT int close_range(unsigned first, unsigned last, int flags) noexcept {
  return close_others("close_range", first, last, flags);
}

TERRANE_IN_FRONT void closefrom(int first) noexcept {
  close_others("closefrom", static_cast<unsigned>(std::max(first, 0)), ~0u, 0);
}

TERRANE_IN_FRONT int dup2(int from, int to) noexcept {
  if (duplicates_elsewhere(from, to)) return duplicate_elsewhere("dup2", ::dup2, from, to);
  if (from != to && is_kept(to, __builtin_return_address(0))) return refuse("dup2", to, EBUSY);
  return duplicated(behind(next_dup2, "dup2")(from, to));
}

TERRANE_IN_FRONT int dup3(int from, int to, int flags) noexcept {
  if (duplicates_elsewhere(from, to)) return duplicate_elsewhere("dup3", ::dup3, from, to, flags);
  if (from != to && is_kept(to, __builtin_return_address(0))) return refuse("dup3", to, EBUSY);
  return duplicated(behind(next_dup3, "dup3")(from, to, flags));
}
