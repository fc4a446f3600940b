#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/check.h"
#include "platform/fault_source.h"
#include "platform/page_size.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace terrane::platform {
namespace {

// Room for the protocol, the transport and the program's earlier handler above the kernel's own
// frame (which grows with the processor's registers: AT_MINSIGSTKSZ). Only touched pages take
// memory.
constexpr std::size_t kRoomBytes = 256 * 1024;

std::size_t wanted_bytes() {
  std::size_t frame = std::max<std::size_t>(getauxval(AT_MINSIGSTKSZ), 2048);
  std::size_t page = page_bytes();
  return (frame + kRoomBytes + page - 1) / page * page;
}

// One thread's alternate signal stack. It lies in one mapping: a page that faults on overflow, the
// stack, and this record.
struct SignalStack {
  stack_t before;  // what the thread had
  std::byte* base;
  std::size_t bytes;
};

std::byte* usable(const SignalStack& stack) { return stack.base + page_bytes(); }

// What the thread had before comes back when it ends.
void take_down(void* record) {
  SignalStack stack = *static_cast<SignalStack*>(record);
  stack_t now{};
  bool ours = sigaltstack(nullptr, &now) == 0 && now.ss_sp == usable(stack);
  if (ours && sigaltstack(&stack.before, nullptr) != 0) return;  // in use this moment: leave it
  munmap(stack.base, stack.bytes);
}

pthread_key_t exit_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    TERRANE_CHECK(pthread_key_create(&made, take_down) == 0, "a key for threads that end");
    return made;
  }();
  return key;
}

void set_up(const stack_t& before) {
  std::size_t bytes = wanted_bytes() + 2 * page_bytes();
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  TERRANE_CHECK(base != MAP_FAILED, "no address space left for a signal stack");
  SignalStack stack{before, static_cast<std::byte*>(base), bytes};
  auto* record = new (stack.base + bytes - page_bytes()) SignalStack(stack);
  stack_t installed{};
  installed.ss_sp = usable(stack);
  installed.ss_size = wanted_bytes();
  bool done = mprotect(base, page_bytes(), PROT_NONE) == 0 && sigaltstack(&installed, nullptr) == 0;
  TERRANE_CHECK(done, "a signal stack cannot be installed");
  pthread_setspecific(exit_key(), record);
}

// Initial-exec and without a destructor: the first use may be in a signal handler, where neither
// may allocate.
thread_local bool ensured __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

void ensure_signal_stack() {
  if (ensured) return;
  ensured = true;
  stack_t before{};
  if (sigaltstack(nullptr, &before) != 0) return;
  bool large_enough = (before.ss_flags & SS_DISABLE) == 0 && before.ss_size >= wanted_bytes();
  if (!large_enough && (before.ss_flags & SS_ONSTACK) == 0) set_up(before);
}

}  // namespace terrane::platform
