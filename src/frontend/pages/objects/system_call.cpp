// The raw system call: futex(2) on words in shared memory is served as the program's own waiting.
// Others are not served on shared memory, since they have arguments that only the kernel knows: the
// program is warned once.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

#include "base/log.h"
#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/executing.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/futex.h"

using terrane::frontend::Elsewhere;
using terrane::frontend::Executing;
using terrane::frontend::next;
using terrane::frontend::SharedRange;

namespace {

void tell() {
  static std::atomic_flag told;
  if (told.test_and_set()) return;
  int before = errno;
  terrane::base::log(
      "syscall() on shared memory is not served: it fails where a page is not present; give it "
      "private memory, or call terrane_touch before it");
  errno = before;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

long syscall(long number, ...) noexcept {
  long arguments[6];
  va_list more;
  va_start(more, number);
  for (long& argument : arguments) argument = va_arg(more, long);
  va_end(more);
  auto [a, b, c, d, e, f] = arguments;
  auto* word = reinterpret_cast<std::uint32_t*>(a);
  if (number == SYS_futex && SharedRange::contains(word))
    return terrane::frontend::pages::futex(word, static_cast<int>(b), static_cast<std::uint32_t>(c),
                                           reinterpret_cast<const timespec*>(d));
  auto* path = reinterpret_cast<const char*>(number == SYS_execve ? a : b);
  auto list = [](long address) { return reinterpret_cast<char* const*>(address); };
  if (number == SYS_execve && Executing::get() != nullptr) return ::execve(path, list(b), list(c));
  if (number == SYS_execveat && Executing::get() != nullptr)
    return ::execveat(static_cast<int>(a), path, list(c), list(d), static_cast<int>(e));
  Elsewhere* elsewhere = Elsewhere::get();
  if (elsewhere != nullptr && elsewhere->refuses_system_call(number)) return -1;
  long result = next<"syscall">(::syscall)(number, a, b, c, d, e, f);
  if (result != -1 || errno != EFAULT) return result;
  for (long argument : arguments) {
    if (SharedRange::contains(reinterpret_cast<const void*>(argument))) tell();
  }
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
