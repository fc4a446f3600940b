// Signals: faults come by SIGBUS or SIGSEGV, so these reach Terrane first and are open in every
// thread; programs see their own handlers, masks and stacks.
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <cerrno>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/process_signals.h"
#include "frontend/interpose/shared_range.h"
#include "platform/crash_signals.h"
#include "platform/fault_source.h"
#include "platform/program_handlers.h"
#include "platform/program_signals.h"
#include "platform/wake_signal.h"

namespace platform = terrane::platform;
using namespace terrane::frontend;

namespace {

// sigaction() of the program.
int change(int signal_number, const struct sigaction* action, struct sigaction* before) {
  struct sigaction next {};
  if (action != nullptr) next = *action;
  int result =
      platform::program_sigaction(signal_number, action == nullptr ? nullptr : &next, before);
  ProcessSignals* signals = ProcessSignals::get();
  if (result == 0 && action != nullptr && signals != nullptr) signals->changed(signal_number, next);
  return result;
}

bool are_elsewhere() {
  return ProcessSignals::get() != nullptr && ProcessSignals::get()->are_elsewhere();
}

// signal() in the manner of BSD or of System V.
sighandler_t install(int signal_number, sighandler_t handler, int flags) {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, signal_number);
  return change(signal_number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sigaction(int signal_number, const struct sigaction* action,
              struct sigaction* before) noexcept {
  return change(signal_number, action, before);
}

sighandler_t signal(int signal_number, sighandler_t handler) noexcept {
  if (!platform::is_fault_signal(signal_number) && !platform::has_program_handlers())
    return platform::without_crash_handler(next<"signal">(::signal)(signal_number, handler));
  return install(signal_number, handler, SA_RESTART);
}

// Those of X/Open.
sighandler_t sigset(int signal_number, sighandler_t handler) noexcept {
  sigset_t own, before;
  sigemptyset(&own);
  if (handler != SIG_ERR && sigaddset(&own, signal_number) != 0) return SIG_ERR;
  bool holds = handler == SIG_HOLD;
  if (pthread_sigmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &own, &before) != 0) return SIG_ERR;
  bool was_held = sigismember(&before, signal_number) == 1;
  struct sigaction now {};
  if (holds && change(signal_number, nullptr, &now) != 0) return SIG_ERR;
  sighandler_t last = holds ? now.sa_handler : install(signal_number, handler, 0);
  return was_held && last != SIG_ERR ? SIG_HOLD : last;
}

int sigignore(int signal_number) noexcept {
  return install(signal_number, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

int siginterrupt(int signal_number, int interrupts) noexcept {
  struct sigaction action {};
  if (change(signal_number, nullptr, &action) != 0) return -1;
  action.sa_flags = interrupts != 0 ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return change(signal_number, &action, nullptr);
}

sighandler_t sysv_signal(int signal_number, sighandler_t handler) noexcept {
  return install(signal_number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return platform::program_sigmask(how, set, before);
}

int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  int error = platform::program_sigmask(how, set, before);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  return platform::program_sigaltstack(stack, before);
}

int sigpending(sigset_t* to) noexcept {
  Out<sigset_t> own(to);
  int result = next<"sigpending">(::sigpending)(own.get());
  if (result == 0 && are_elsewhere()) result = ProcessSignals::get()->pending(*own.get());
  return own.done(result);
}

int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  In<sigset_t> own(set);
  if (are_elsewhere()) return ProcessSignals::get()->wait(*set, info, timeout);
  Out<siginfo_t> own_info(info);
  In<timespec> own_timeout(timeout);
  ForKernel<siginfo_t> taken;
  int result = cancellable([&] {
    auto* call = next<"sigtimedwait">(::sigtimedwait);
    int got = call(own.get(), taken.get(), own_timeout.get());
    if (got < 0 || !platform::is_wake(*taken)) return got;
    errno = EINTR;
    return -1;
  });
  if (result >= 0 && info != nullptr) *own_info.get() = *taken;
  return own_info.done(result);
}

int sigwait(const sigset_t* set, int* signal_number) {
  for (;;) {
    int got = sigtimedwait(set, nullptr, nullptr);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    *signal_number = got;
    return 0;
  }
}

int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::signalfd, fd, set, flags);
  if (are_elsewhere()) return ProcessSignals::get()->open(fd, *set, flags);
  return adopt(next<"signalfd">(::signalfd)(fd, In<sigset_t>(set).get(), flags));
}

}  // extern "C"
#pragma GCC visibility pop
