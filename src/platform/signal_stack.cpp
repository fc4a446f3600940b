#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>

#include "base/check.h"
#include "platform/fault_source.h"
#include "platform/libc_signals.h"
#include "platform/page_size.h"
#include "platform/program_signals.h"

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
  stack_t before;  // what the thread had, or believes to have
  std::byte* base;
  std::size_t bytes;
};

std::byte* usable(const SignalStack& stack) { return stack.base + page_bytes(); }

// This thread's, or null. Initial-exec and without a destructor: the first use may be in a signal
// handler, where neither may allocate.
thread_local SignalStack* mine __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool ensured __attribute__((tls_model("initial-exec"))) = false;

bool install(const SignalStack& stack) {
  stack_t ours{};
  ours.ss_sp = usable(stack);
  ours.ss_size = wanted_bytes();
  return libc_signals().sigaltstack(&ours, nullptr) == 0;
}

// What the thread had before comes back when it ends.
void take_down(void* record) {
  SignalStack stack = *static_cast<SignalStack*>(record);
  stack_t now{};
  auto set_stack = libc_signals().sigaltstack;
  bool ours = set_stack(nullptr, &now) == 0 && now.ss_sp == usable(stack);
  if (ours && set_stack(&stack.before, nullptr) != 0) return;  // in use this moment: leave it
  mine = nullptr;
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
  bool done = mprotect(base, page_bytes(), PROT_NONE) == 0 && install(stack);
  TERRANE_CHECK(done, "a signal stack cannot be installed");
  pthread_setspecific(exit_key(), record);
  mine = record;
}

bool is_large_enough(const stack_t& stack) {
  return (stack.ss_flags & SS_DISABLE) == 0 && stack.ss_size >= wanted_bytes();
}

}  // namespace

void ensure_signal_stack() {
  if (ensured) return;
  ensured = true;
  stack_t before{};
  if (libc_signals().sigaltstack(nullptr, &before) != 0) return;
  if (!is_large_enough(before) && (before.ss_flags & SS_ONSTACK) == 0) set_up(before);
}

bool is_on_signal_stack(const void* at) {
  return mine != nullptr && std::less_equal<>()(mine->base, at) &&
         std::less<>()(at, mine->base + mine->bytes);
}

int program_sigaltstack(const stack_t* stack, stack_t* before) {
  auto set_stack = libc_signals().sigaltstack;
  stack_t next{};
  stack_t last{};
  if (stack != nullptr) next = *stack;
  if (set_stack(nullptr, &last) != 0) return -1;
  bool ours = mine != nullptr && last.ss_sp == usable(*mine);
  if (ours) {
    int running = last.ss_flags & SS_ONSTACK;
    last = mine->before;
    last.ss_flags |= running;
  }
  if (stack != nullptr) {
    if (set_stack(&next, nullptr) != 0) return -1;  // the kernel knows what is wrong with it
    if (mine != nullptr && !is_large_enough(next)) {
      mine->before = next;
      if (next.ss_flags & SS_DISABLE) mine->before.ss_flags = SS_DISABLE;
      TERRANE_CHECK(install(*mine), "a signal stack can be installed again");
    }
  }
  if (before != nullptr) *before = last;
  return 0;
}

}  // namespace terrane::platform
