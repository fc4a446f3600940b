#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

#include "base/result.h"
#include "platform/futex_lock.h"

namespace terrane::platform {

// Our handler of one signal in front of what the program has for it. Installed once a process,
// never taken away: handlers that came after ours may hand signals on to it. What the program
// installs later through exchange() comes behind ours too; what it installs past us, by restore().
class SignalChain {
 public:
  using Handler = void (*)(int signal_number, siginfo_t* info, void* context);

  explicit constexpr SignalChain(int signal_number) : signal_number_(signal_number) {}

  // Does nothing when installed already. Asynchronous signals wait while the handler runs, but for
  // those that end a program. Not thread-safe.
  base::Result<void> install(Handler handler);
  bool installed() const { return installed_.load(std::memory_order_acquire); }

  // Puts our handler in front again where another one has taken its place, which then comes behind
  // ours; true: it had. Any thread, not in a signal handler.
  bool restore();

  // What sigaction does, on the program's action behind ours. Either may be null; neither may lie
  // in shared memory. Async-signal-safe, any thread.
  void exchange(const struct sigaction* next, struct sigaction* before);

  // Whether the program has a handler of its own: what a fault means is its business then.
  bool program_handles();

  // Inside the handler: does what would have happened without us, under the signal mask that it
  // would have had, but for the signals of faults, which stay open. Where that is death by default,
  // the signal comes again when the handler returns.
  void pass_on(siginfo_t* info, void* context);

 private:
  struct sigaction current();
  struct sigaction take();
  bool put_in_front();
  void run(const struct sigaction& action, siginfo_t* info, void* context) const;

  int signal_number_;
  Handler handler_ = nullptr;
  // The program's action took the place of ours once: what it knows as the action before it is
  // ours.
  std::atomic<bool> adopted_{false};
  std::atomic<bool> installed_{false};
  FutexLock writing_;  // taken with all signals closed
  // The program's action is actions_[version_ % 2]; the other is the next one's place.
  std::atomic<std::uint32_t> version_{0};
  struct sigaction actions_[2]{};
};

}  // namespace terrane::platform
