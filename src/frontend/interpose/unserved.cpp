// Calls that are not served on shared memory: the program is warned, once a kind. The raw system
// call has arguments that only the kernel knows, and the C library's threads for aio_read(3) and
// its kin call the kernel by themselves.
#include <aio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>

#include "base/log.h"
#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/futex.h"

using terrane::frontend::Elsewhere;
using terrane::frontend::next;
using terrane::frontend::refuses_thread;
using terrane::frontend::SharedRange;

namespace {

void tell(std::atomic_flag& told, const char* call) {
  if (told.test_and_set()) return;
  int before = errno;
  terrane::base::log(
      "{} on shared memory is not served: it fails where a page is not present; give it private "
      "memory, or call terrane_touch before it",
      call);
  errno = before;
}

template <typename Block>
void look_at(const Block* block) {
  static std::atomic_flag told;
  if (block != nullptr && SharedRange::contains(const_cast<const void*>(block->aio_buf)))
    tell(told, "aio_read, aio_write or lio_listio");
}

// How the end of an operation is told; nullptr: there is none.
template <typename Block>
const sigevent* event_of(const Block* block) {
  return block == nullptr ? nullptr : &block->aio_sigevent;
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
  Elsewhere* elsewhere = Elsewhere::get();
  if (elsewhere != nullptr && elsewhere->refuses_system_call(number)) return -1;
  long result = next<"syscall">(::syscall)(number, a, b, c, d, e, f);
  if (result != -1 || errno != EFAULT) return result;
  static std::atomic_flag told;
  for (long argument : arguments) {
    if (SharedRange::contains(reinterpret_cast<const void*>(argument))) tell(told, "syscall()");
  }
  return result;
}

int aio_read(aiocb* block) noexcept {
  if (refuses_thread("aio_read", event_of(block))) return -1;
  look_at(block);
  return next<"aio_read">(::aio_read)(block);
}
int aio_read64(aiocb64* block) noexcept {
  if (refuses_thread("aio_read64", event_of(block))) return -1;
  look_at(block);
  return next<"aio_read64">(::aio_read64)(block);
}

int aio_write(aiocb* block) noexcept {
  if (refuses_thread("aio_write", event_of(block))) return -1;
  look_at(block);
  return next<"aio_write">(::aio_write)(block);
}
int aio_write64(aiocb64* block) noexcept {
  if (refuses_thread("aio_write64", event_of(block))) return -1;
  look_at(block);
  return next<"aio_write64">(::aio_write64)(block);
}

int lio_listio(int mode, aiocb* const list[], int count, sigevent* event) noexcept {
  if (refuses_thread("lio_listio", event)) return -1;
  for (int i = 0; i < count; ++i) look_at(list[i]);
  return next<"lio_listio">(::lio_listio)(mode, list, count, event);
}
int lio_listio64(int mode, aiocb64* const list[], int count, sigevent* event) noexcept {
  if (refuses_thread("lio_listio64", event)) return -1;
  for (int i = 0; i < count; ++i) look_at(list[i]);
  return next<"lio_listio64">(::lio_listio64)(mode, list, count, event);
}

}  // extern "C"
#pragma GCC visibility pop
