#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

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

// Owns one thread's alternate signal stack, with a page below it that faults on overflow; puts back
// what the thread had before when the thread ends.
class SignalStack {
 public:
  SignalStack() {
    if (sigaltstack(nullptr, &before_) != 0) return;
    bool large_enough = (before_.ss_flags & SS_DISABLE) == 0 && before_.ss_size >= wanted_bytes();
    if (large_enough || (before_.ss_flags & SS_ONSTACK) != 0) return;
    bytes_ = wanted_bytes() + page_bytes();
    base_ = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TERRANE_CHECK(base_ != MAP_FAILED, "no address space left for a signal stack");
    auto* usable = static_cast<std::byte*>(base_) + page_bytes();
    stack_t stack{};
    stack.ss_sp = usable;
    stack.ss_size = wanted_bytes();
    bool installed = mprotect(usable, stack.ss_size, PROT_READ | PROT_WRITE) == 0 &&
                     sigaltstack(&stack, nullptr) == 0;
    TERRANE_CHECK(installed, "a signal stack cannot be installed");
  }

  ~SignalStack() {
    if (base_ == nullptr) return;
    stack_t now{};
    bool ours = sigaltstack(nullptr, &now) == 0 &&
                now.ss_sp == static_cast<std::byte*>(base_) + page_bytes();
    if (ours && sigaltstack(&before_, nullptr) != 0) return;  // in use this moment: leave it
    munmap(base_, bytes_);
  }

  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  stack_t before_{};
  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace

void ensure_signal_stack() {
  thread_local SignalStack stack;
  static_cast<void>(stack);
}

}  // namespace terrane::platform
