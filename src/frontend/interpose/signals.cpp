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
#include "frontend/interpose/shared_range.h"
#include "platform/fault_source.h"
#include "platform/program_signals.h"
#include "platform/wake_signal.h"

namespace platform = terrane::platform;
using terrane::frontend::call_elsewhere;
using terrane::frontend::cancellable;
using terrane::frontend::ForKernel;
using terrane::frontend::In;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::Out;
using terrane::frontend::SharedRange;

namespace {

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
  return platform::program_sigaction(signal_number, &action, &before) == 0 ? before.sa_handler
                                                                           : SIG_ERR;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sigaction(int signal_number, const struct sigaction* action,
              struct sigaction* before) noexcept {
  return platform::program_sigaction(signal_number, action, before);
}

sighandler_t signal(int signal_number, sighandler_t handler) noexcept {
  if (!platform::is_fault_signal(signal_number))
    return next<"signal">(::signal)(signal_number, handler);
  return install(signal_number, handler, SA_RESTART);
}

sighandler_t ssignal(int signal_number, sighandler_t handler) noexcept {
  return signal(signal_number, handler);
}

sighandler_t sysv_signal(int signal_number, sighandler_t handler) noexcept {
  return install(signal_number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER);
}

sighandler_t __sysv_signal(int signal_number, sighandler_t handler) noexcept {
  return sysv_signal(signal_number, handler);
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
  return own.done(next<"sigpending">(::sigpending)(own.get()));
}

int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  In<sigset_t> own(set);
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

int sigwaitinfo(const sigset_t* set, siginfo_t* info) { return sigtimedwait(set, info, nullptr); }

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
  return terrane::frontend::adopt(next<"signalfd">(::signalfd)(fd, In<sigset_t>(set).get(), flags));
}

}  // extern "C"
#pragma GCC visibility pop
