#pragma once

#include <signal.h>

#include <cstdint>

namespace terrane::platform {

// The program's handlers of all signals but those of faults, in a program whose memory is shared
// and whose threads run on several nodes. Ours stands in front of each of them. It runs on the
// thread's private signal stack, since the kernel must not store a frame in shared memory; and
// where it interrupts the runtime, the signal comes again when the runtime has a place for it.
struct HandlerSurroundings {
  // All of these are called in the handler. Whether it has interrupted what holds a lock of the
  // runtime, or what runs on the runtime's stack (`stack`: where the stack was). postpone(mask)
  // then notes the mask of the thread until the signal may come again.
  bool (*must_wait)(std::uintptr_t stack);
  void (*postpone)(const sigset_t& mask);
  // Calls handler(signal_number, info, context).
  void (*run)(void (*handler)(int, siginfo_t*, void*), int signal_number, siginfo_t* info,
              void* context);
  // On a node other than 0: passes a signal for the process on to node 0; false: it is for the
  // thread. nullptr: this is node 0.
  bool (*relay)(int signal_number, const siginfo_t& info);
};

// From now on handlers are run so; those that are installed, too. Once, as the only thread.
void begin_program_handlers(const HandlerSurroundings& surroundings);
bool has_program_handlers();

// What sigaction does on the program's action of a signal that is none of faults, after
// begin_program_handlers(). Either may be null; neither may lie in shared memory.
// Async-signal-safe, any thread.
int exchange_program_action(int signal_number, const struct sigaction* next,
                            struct sigaction* before);

// How many handlers without SA_RESTART have run in this thread: a call that was interrupted by one
// ends with EINTR.
std::uint32_t interruptions();

// Nothing interrupts this thread while it lives.
class SignalsClosed {
 public:
  SignalsClosed();
  ~SignalsClosed();
  SignalsClosed(const SignalsClosed&) = delete;

 private:
  sigset_t before_;
};

}  // namespace terrane::platform
