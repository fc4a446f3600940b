#pragma once

#include <signal.h>
#include <sys/types.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

// Looks at the instructions of a running thread, one by one, to tell a loop that only waits for
// what others write from one that computes.
namespace terrane::platform {

// Whether an instruction belongs to what is looked at. Called in signal handlers.
using IsOwnCode = bool (*)(std::uintptr_t at);

// An instruction of a loop, and the general registers before it, as a ucontext_t has them.
struct LoopStep {
  std::uintptr_t at = 0;
  std::uintptr_t stack = 0;  // the stack pointer
  const greg_t* registers = nullptr;
};

struct LoopReport {
  // The thread has gone through the same instructions with the same registers again and again, and
  // none of them changes memory in a way that it could see: only a write of another thread can
  // end the loop. False also where that could not be found out.
  bool polls = false;
  std::uintptr_t at = 0;  // an instruction of the loop
  // Of a loop that polls: its instructions, at most kMostLoopSteps. Valid until the next probe.
  std::span<const LoopStep> steps{};
};
inline constexpr std::size_t kMostLoopSteps = 48;

// Of a thread of this process, which should be running: a system call in which it waits would end
// with EINTR. Takes some milliseconds, which that thread computes less. One thread at a time may
// call this. A process that is traced, or has a handler of SIGTRAP of its own, is left alone.
// x86-64 alone; elsewhere nothing polls.
LoopReport probe_loop(pid_t thread, IsOwnCode is_own);

// For the handler of SIGBUS: whether the signal begins a probe of the calling thread, which it then
// has begun.
bool begin_probe(const siginfo_t& info, void* context);

// For the handler of SIGTRAP: whether the signal is a step of the probe of the calling thread,
// which then goes on. Another trap ends the probe.
bool step_probe(const siginfo_t& info, void* context);

// Whether an instruction may change memory so that repeating it with the same registers gives
// another result (such as an addition to memory), or leaves the program's code (a system call).
// The bytes from its beginning on; at least 15 of them can be read.
bool may_go_on(const std::uint8_t* code);

}  // namespace terrane::platform
