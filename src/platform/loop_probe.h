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
// Whether the calling thread, in other code, is in a library's function that such an instruction
// has called: a loop that looks at a clock is seldom anywhere else. Called in signal handlers.
using IsCalled = bool (*)();

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
  // The program's instructions that were looked at, of a loop that polls those of its last round.
  // Calls of libraries are passed over. Valid until the next probe.
  std::span<const LoopStep> steps{};
  // Nothing ended the look early, so `steps` is all that the thread does meanwhile.
  bool is_whole = false;
  pid_t thread = 0;  // 0: no thread was looked at, or it was in other code; later it may be
};

// Of a thread of this process, which should be running: a system call in which it waits would end
// with EINTR. Takes longest_ns of that thread's processor time at most, about, or 500 steps. One
// thread at a time may call this. A process that is traced, or has a handler of SIGTRAP of its own,
// is left alone. x86-64 alone; elsewhere nothing polls.
LoopReport probe_loop(pid_t thread, std::uint64_t longest_ns, IsOwnCode is_own, IsCalled is_called);

// Threads that sleep may not be looked at in this way, so they begin by themselves when they have
// slept. offer_probe() permits it to one of them; begin_offered_probe() is called by a thread that
// has just slept, and looks from here on to the next system call that waits; take_offered_probe()
// gives the report. The first and the last are called by the thread that calls probe_loop().
void offer_probe(std::uint64_t longest_ns, IsOwnCode is_own);
bool begin_offered_probe();  // false: no probe is offered
LoopReport take_offered_probe();

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
// What matters while a thread stops behind each instruction. kTraps: it may not be executed then;
// kPushesFlags, kPopsFlags: the flag that makes the thread stop is among those.
enum class StepKind { kOther, kTraps, kCallsKernel, kPushesFlags, kPopsFlags };
StepKind step_kind(const std::uint8_t* code);

}  // namespace terrane::platform
