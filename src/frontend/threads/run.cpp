// How a thread of the program runs on this node: its code on a stack in shared memory, the runtime
// on the stack that the C library gave it.
#include <pthread.h>
#include <signal.h>
#include <unwind.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstring>

#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/polling.h"
#include "frontend/threads/private_stacks.h"
#include "frontend/threads/program.h"
#include "platform/fault_source.h"
#include "platform/libc_signals.h"
#include "platform/program_signals.h"

extern "C" int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
extern "C" void* __dso_handle;

namespace terrane::frontend::threads {
namespace {

constexpr std::uintptr_t kFrames = 8192;  // of what runs below the runtime on its stack

// Where pthread_exit goes, and what its thread has returned.
struct Base {
  std::jmp_buf jump;
  std::uintptr_t stack;  // the stack pointer of the frame that sets it
  void* result;
};

// Cleanup handlers of a program in C (pthread_cleanup_push), the latest first: each is a place to
// jump to, which calls __pthread_unwind_next in the end.
thread_local constinit __pthread_unwind_buf_t* cleanups __attribute__((tls_model("initial-exec"))) =
    nullptr;

struct Call {
  void* (*function)(void*);
  void* argument;
  void* result;
};

// On the stack in shared memory.
extern "C" [[gnu::used, gnu::visibility("hidden")]] void terrane_enter_thread(void* raw) {
  Call& call = *static_cast<Call*>(raw);
  Base base;
#if defined(__x86_64__)
  asm volatile("movq %%rsp, %0" : "=r"(base.stack));
#else
  asm volatile("mov %0, sp" : "=r"(base.stack));
#endif
  base.result = nullptr;
  this_thread().base = &base;
  if (_setjmp(base.jump) == 0) {
    call.result = call.function(call.argument);
  } else {
    call.result = static_cast<Base*>(this_thread().base)->result;
  }
}

}  // namespace

// The bottom of that stack, where unwinding ends: an exception that nobody catches ends the program
// where it was thrown, before any destructor runs.
extern "C" [[gnu::visibility("hidden")]] void terrane_bottom_of_stack(void* raw);
#if defined(__x86_64__)
asm(R"(
  .text
  .globl terrane_bottom_of_stack
  .hidden terrane_bottom_of_stack
  .type terrane_bottom_of_stack, @function
terrane_bottom_of_stack:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  subq $8, %rsp
  call terrane_enter_thread
  addq $8, %rsp
  ret
  .cfi_endproc
  .size terrane_bottom_of_stack, . - terrane_bottom_of_stack
)");
#else
asm(R"(
  .text
  .globl terrane_bottom_of_stack
  .hidden terrane_bottom_of_stack
  .type terrane_bottom_of_stack, %function
terrane_bottom_of_stack:
  .cfi_startproc
  .cfi_undefined x30
  stp x29, x30, [sp, #-16]!
  bl terrane_enter_thread
  ldp x29, x30, [sp], #16
  ret
  .cfi_endproc
  .size terrane_bottom_of_stack, . - terrane_bottom_of_stack
)");
#endif

namespace {

_Unwind_Reason_Code stop(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                         _Unwind_Context* context, void* raw) {
  auto* base = static_cast<Base*>(raw);
  bool there = (actions & _UA_END_OF_STACK) != 0 || _Unwind_GetCFA(context) >= base->stack;
  if (there) _longjmp(base->jump, 1);
  return _URC_NO_REASON;
}

// Goes on with the end of a thread: its cleanup handlers, then the destructors of its frames.
[[noreturn]] void unwind() {
  auto* base = static_cast<Base*>(this_thread().base);
  if (__pthread_unwind_buf_t* next = cleanups) {
    cleanups = static_cast<__pthread_unwind_buf_t*>(next->__pad[0]);
    _longjmp(reinterpret_cast<__jmp_buf_tag*>(next->__cancel_jmp_buf), 1);
  }
  static thread_local _Unwind_Exception exception;
  std::memset(&exception, 0, sizeof exception);
  exception.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) {
    Program::get()->node().fail("a catch (...) ends a thread's end: it must throw on");
  };
  _Unwind_ForcedUnwind(&exception, stop, base);
  _longjmp(base->jump, 1);
}

// From here on the kernel gives a signal for the process to another thread. A handler that ran in a
// thread without a record would take the program's objects for private ones.
void close_signals() {
  sigset_t all;
  sigfillset(&all);
  all = platform::without_fault_signals(all);
  platform::libc_signals().set_mask(SIG_BLOCK, &all, nullptr);
}

// Registered first, so it is called after the destructors of the thread's own thread_locals. Where
// the thread has called exit, the C library calls it as well, while the thread still runs.
void at_end(void* raw) {
  if (!this_thread().has_run) return;
  auto& record = *static_cast<Record*>(raw);
  destroy_values();
  ThreadState& me = this_thread();
  if (record.has_given_stack == 0) Program::get()->stacks().give_back(me.stack);
  close_signals();
  me.record = nullptr;
  thread_has_ended(record);
  if (me.private_stack != nullptr)
    private_stacks::give_back(next<"pthread_self">(::pthread_self)(), me.private_stack);
}

// What a new thread of this node receives; private memory, since its first steps must not fault.
struct Begin {
  Record* record;
  void* stack;
};

// Where the C library's own system calls on it must not fail, it is present.
runtime::Stack stack_for(const Record& record) {
  constexpr std::uint64_t kPresent = 256 << 10;
  Program& program = *Program::get();
  if (record.has_given_stack == 0)
    return program.stacks().take(record.stack.bytes, "a thread's stack");
  std::uint64_t present = std::min(kPresent, record.stack.bytes);
  program.node().touch(record.stack.top() - present, present, true);
  return record.stack;
}

void* begin(void* raw) {
  platform::open_fault_signals();
  platform::ensure_signal_stack();
  Begin told = *static_cast<Begin*>(raw);
  delete static_cast<Begin*>(raw);
  this_thread().private_stack = told.stack;
  Record& record = *told.record;
  sigset_t mask;
  sigemptyset(&mask);
  std::memcpy(&mask, &record.closed_signals, sizeof record.closed_signals);
  platform::believe_closed(0);
  platform::program_sigmask(SIG_SETMASK, &mask, nullptr);
  Program& program = *Program::get();
  program.node().is_inside();
  runtime::Stack stack = stack_for(record);
  __cxa_thread_atexit_impl(at_end, &record, &__dso_handle);
  if (const char* kept = inherit(record.inherited))
    program.node().fail(
        fmt::format("a new thread cannot have {} from the thread that creates it: {}", kept,
                    ::strerror(errno)));
  record.result = run_as(record, stack, record.function, record.argument);
  this_thread().has_run = true;
  return nullptr;
}

}  // namespace

[[gnu::noinline]] void* run_as(Record& record, runtime::Stack stack, void* (*function)(void*),
                               void* argument) {
  ThreadState& me = this_thread();
  me.record = &record;
  me.stack = stack;
  record.stack = stack;
  auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  runtime::own_stack().top = reinterpret_cast<std::byte*>((frame - kFrames) / 64 * 64);
  Call call{function, argument, nullptr};
  begin_target(record);
  begin_watched(record);
  runtime::call_on_stack(stack.top(), terrane_bottom_of_stack, &call);
  end_watched(record);
  end_target(record);
  runtime::own_stack().top = nullptr;
  return call.result;
}

// On the thread's own stack: the C library blocks all signals while it makes a thread, and a write
// to a protected page of a shared stack would end the process then.
int start_here(Record& record) {
  return runtime::on_own_stack([made = &record] {
    Private ours;
    void* stack = private_stacks::take();
    if (stack == nullptr) return EAGAIN;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, private_stacks::bytes());
    pthread_t thread;
    auto* told = new Begin{made, stack};
    int error = next<"pthread_create">(::pthread_create)(&thread, &attributes, begin, told);
    pthread_attr_destroy(&attributes);
    if (error == 0) return 0;
    delete told;
    private_stacks::give_back(stack);
    return error;
  });
}

void end_thread(void* result) {
  end_target(*this_thread().record);
  static_cast<Base*>(this_thread().base)->result = result;
  unwind();
}

void thread_has_ended(Record& record) {
  Program& program = *Program::get();
  Control& control = program.control();
  bool detached = false, last = false;
  {
    Holding hold(&control.lock);
    if (record.is_server == 0) {
      --control.load[record.slot];
      last = --control.live == 0 && control.main_has_exited != 0;
    }
    detached = record.is_detached != 0;
    record.state = detached ? Record::kFree : Record::kEnded;
  }
  auto add = protocol::CountOp::kAdd;
  if (!detached) program.node().change_count(count_of(&record.done), add, 1);
  if (last) program.node().change_count(count_of(&control.all_ended), add, 1);
}

}  // namespace terrane::frontend::threads

extern "C" {
void __pthread_register_cancel(__pthread_unwind_buf_t*);
void __pthread_unregister_cancel(__pthread_unwind_buf_t*);
void __pthread_unwind_next(__pthread_unwind_buf_t*);
}

#pragma GCC visibility push(default)
extern "C" {

void __pthread_register_cancel(__pthread_unwind_buf_t* handler) {
  using namespace terrane::frontend;
  if (threads::this_thread().record == nullptr)
    return next<"__pthread_register_cancel">(::__pthread_register_cancel)(handler);
  handler->__pad[0] = threads::cleanups;
  threads::cleanups = handler;
}

void __pthread_unregister_cancel(__pthread_unwind_buf_t* handler) {
  using namespace terrane::frontend;
  if (threads::this_thread().record == nullptr)
    return next<"__pthread_unregister_cancel">(::__pthread_unregister_cancel)(handler);
  threads::cleanups = static_cast<__pthread_unwind_buf_t*>(handler->__pad[0]);
}

void __pthread_unwind_next(__pthread_unwind_buf_t* handler) {
  using namespace terrane::frontend;
  if (threads::this_thread().record == nullptr)
    next<"__pthread_unwind_next">(::__pthread_unwind_next)(handler);
  threads::unwind();
}

// Destructors of the frames in between run, and cleanup handlers.
void pthread_exit(void* result) {
  using namespace terrane::frontend;
  threads::ThreadState& me = threads::this_thread();
  if (me.record == nullptr) next<"pthread_exit">(::pthread_exit)(result);
  threads::end_thread(result);
}

}  // extern "C"
#pragma GCC visibility pop
