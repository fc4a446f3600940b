#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "platform/fault_source.h"

namespace terrane::runtime {

// Threads of a program whose memory is shared run on stacks in shared memory (stacks.h). The
// protocol must not: it could protect or fetch the page of its own stack. So operations of a node
// run on the stack that the C library gave the thread.
struct OwnStack {
  std::byte* top = nullptr;  // where operations begin; nullptr: no other stack is in use
  std::uint32_t depth = 0;   // nested operations that the thread is in
  std::uint32_t holds = 0;   // locks of the runtime that the thread holds between operations
  bool has_signal = false;   // a handler of the program waits for the end of all that
};

// The calling thread's. Initial-exec: signal handlers read it.
inline OwnStack& own_stack() {
  static thread_local constinit OwnStack own __attribute__((tls_model("initial-exec")));
  return own;
}

// Whether the calling thread is in an operation of its node.
inline bool is_in_operation() { return own_stack().depth != 0; }

// In a signal handler that has interrupted an operation: the signal is closed until the operation
// ends, or waits and holds nothing. `mask`: of the thread, before that.
void postpone_signals(const sigset_t& mask);
// Opens what is closed, so that the handlers run here.
void take_signals();
inline void take_signals_after_operation() {
  const OwnStack& own = own_stack();
  if (own.has_signal && own.depth == 0 && own.holds == 0) [[unlikely]]
    take_signals();
}

// Calls function(argument) with the stack pointer at `top`, and returns.
inline void call_on_stack(std::byte* top, void (*function)(void*), void* argument) {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[function]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument), [top] "+r"(top), [function] "+r"(function)
      :
      : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15");
#elif defined(__aarch64__)
  register void* first asm("x0") = argument;
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %[top]\n\t"
      "blr %[function]\n\t"
      "mov sp, x19"
      : "+r"(first)
      : [top] "r"(top), [function] "r"(function)
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
        "x15", "x16", "x17", "x18", "x19", "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4",
        "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
        "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
#else
#error "a stack pointer is moved on x86-64 and arm64 alone"
#endif
}

// Calls function() on the thread's own stack; what it captures by value is copied to that stack. No
// exception may leave it.
template <typename Function>
auto on_own_stack(Function function) -> decltype(function()) {
  using Result = decltype(function());
  OwnStack& own = own_stack();
  // A handler of the program stays on the signal stack: the kernel would take the next signal there
  // from the top, over the handler's frames.
  bool stays = own.top == nullptr || platform::is_on_signal_stack(__builtin_frame_address(0));
  if (own.depth++ != 0 || stays) {
    struct Leave {
      ~Leave() {
        --own_stack().depth;
        take_signals_after_operation();
      }
    } leave;
    return function();
  }
  if constexpr (std::is_void_v<Result>) {
    call_on_stack(
        own.top,
        [](void* raw) {
          Function here = std::move(*static_cast<Function*>(raw));
          here();
        },
        &function);
    --own_stack().depth;
    take_signals_after_operation();
  } else {
    struct Call {
      Function* function;
      Result* result;
    };
    alignas(Result) std::byte room[sizeof(Result)];
    Call call{&function, reinterpret_cast<Result*>(room)};
    call_on_stack(
        own.top,
        [](void* raw) {
          Call& made = *static_cast<Call*>(raw);
          Function here = std::move(*made.function);
          Result result = here();
          --own_stack().depth;  // the move below may fault
          new (made.result) Result(std::move(result));
        },
        &call);
    Result result = std::move(*call.result);
    call.result->~Result();
    take_signals_after_operation();
    return result;
  }
}

}  // namespace terrane::runtime
