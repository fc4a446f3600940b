#include "platform/program_handlers.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>

#include "base/own_process.h"
#include "platform/fault_signal.h"
#include "platform/futex_lock.h"
#include "platform/libc_signals.h"
#include "platform/program_signals.h"

namespace terrane::platform {
namespace {

using Handler = void (*)(int, siginfo_t*, void*);

// What the handler in front reads without a lock: it calls with three arguments, whichever form the
// program's handler has.
struct Front {
  std::atomic<Handler> handler{nullptr};
  std::atomic<int> flags{0};
};

Handler as_handler(sighandler_t handler) {
  struct sigaction action {};
  action.sa_handler = handler;
  return action.sa_sigaction;
}

Front fronts[NSIG];
struct sigaction actions[NSIG];  // the program's; under the lock
FutexLock writing;               // taken with all signals closed
HandlerSurroundings around{};
std::atomic<bool> begun{false};
thread_local std::uint32_t interrupted __attribute__((tls_model("initial-exec"))) = 0;

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}
bool is_ignored(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

// A mistake raises these at once, or the thread ends the process by them.
bool is_immediate(int signal_number) {
  return signal_number == SIGABRT || signal_number == SIGFPE || signal_number == SIGILL ||
         signal_number == SIGTRAP || signal_number == SIGSYS;
}

// Those that a process dies of unless it has a handler, and that are sent to it from elsewhere.
bool ends_process(int signal_number) {
  switch (signal_number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGKILL:
    case SIGSTOP:
    case SIGPIPE:
    case SIGXFSZ:
      return false;
    default:
      return !is_immediate(signal_number) && !is_fault_signal(signal_number);
  }
}

void die(int signal_number, const ucontext_t& context) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  libc_signals().sigaction(signal_number, &action, nullptr);
  ::raise(signal_number);
  sigset_t mask = context.uc_sigmask;
  sigdelset(&mask, signal_number);
  libc_signals().set_mask(SIG_SETMASK, &mask, nullptr);
}

// The signal comes again as soon as the thread has its mask back: in a fault when that is served.
void come_again(int signal_number, siginfo_t& info, ucontext_t& context) {
  if (!is_in_fault_handler()) around.postpone(context.uc_sigmask);
  sigaddset(&context.uc_sigmask, signal_number);
  auto process = base::own_process();
  auto thread = static_cast<pid_t>(::syscall(SYS_gettid));
  if (::syscall(SYS_rt_tgsigqueueinfo, process, thread, signal_number, &info) != 0)
    ::syscall(SYS_tgkill, process, thread, signal_number);
}

void run(int signal_number, siginfo_t* info, ucontext_t& context) {
  Front& front = fronts[signal_number];
  Handler handler = front.handler.load(std::memory_order_acquire);
  int flags = front.flags.load(std::memory_order_acquire);
  if (handler == as_handler(SIG_IGN)) return;
  if (handler == as_handler(SIG_DFL)) {
    if (ends_process(signal_number)) die(signal_number, context);
    return;
  }
  if ((flags & static_cast<int>(SA_RESETHAND)) != 0) {
    struct sigaction reset {};
    reset.sa_handler = SIG_DFL;
    exchange_program_action(signal_number, &reset, nullptr);
  }
  if ((flags & SA_RESTART) == 0) ++interrupted;
  if ((flags & SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signal_number);
    libc_signals().set_mask(SIG_UNBLOCK, &own, nullptr);
  }
  around.run(handler, signal_number, info, &context);
}

std::uintptr_t stack_of(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#else
  return context.uc_mcontext.sp;
#endif
}

void on_signal(int signal_number, siginfo_t* info, void* raw) {
  int saved = errno;
  auto& context = *static_cast<ucontext_t*>(raw);
  bool relayed =
      around.relay != nullptr && ends_process(signal_number) && around.relay(signal_number, *info);
  if (!relayed && !is_immediate(signal_number) && around.must_wait(stack_of(context))) {
    come_again(signal_number, *info, context);
  } else if (!relayed) {
    run(signal_number, info, context);
  }
  errno = saved;
}

// What the kernel has in place of an action of the program.
struct sigaction in_front_of(int signal_number, const struct sigaction& action) {
  struct sigaction front = action;
  front.sa_mask = without_fault_signals(action.sa_mask);
  bool relays = around.relay != nullptr && ends_process(signal_number);
  if (is_ignored(action) || (is_default(action) && !relays)) return front;
  if (is_default(action)) {
    front.sa_flags = SA_RESTART;
    sigfillset(&front.sa_mask);
    front.sa_mask = without_fault_signals(front.sa_mask);
  }
  front.sa_flags &= SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT;
  front.sa_flags |= SA_SIGINFO | SA_ONSTACK;
  front.sa_sigaction = on_signal;
  return front;
}

// Under the lock.
int put(int signal_number, const struct sigaction& next) {
  struct sigaction front = in_front_of(signal_number, next);
  Front& shown = fronts[signal_number];
  Handler handler_before = shown.handler.load();
  int flags_before = shown.flags.load();
  shown.flags.store(next.sa_flags, std::memory_order_release);
  shown.handler.store(next.sa_sigaction, std::memory_order_release);
  if (libc_signals().sigaction(signal_number, &front, nullptr) != 0) {
    shown.flags.store(flags_before);
    shown.handler.store(handler_before);
    return -1;
  }
  actions[signal_number] = next;
  return 0;
}

}  // namespace

SignalsClosed::SignalsClosed() {
  sigset_t all;
  sigfillset(&all);
  all = without_fault_signals(all);
  libc_signals().set_mask(SIG_SETMASK, &all, &before_);
}

SignalsClosed::~SignalsClosed() { libc_signals().set_mask(SIG_SETMASK, &before_, nullptr); }

void begin_program_handlers(const HandlerSurroundings& surroundings) {
  around = surroundings;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction now {};
    if (is_fault_signal(signal) || libc_signals().sigaction(signal, nullptr, &now) != 0) continue;
    actions[signal] = now;
    bool can_be_changed = signal != SIGKILL && signal != SIGSTOP;
    if (can_be_changed) put(signal, now);
  }
  begun.store(true, std::memory_order_release);
}

bool has_program_handlers() { return begun.load(std::memory_order_acquire); }

int exchange_program_action(int signal_number, const struct sigaction* next,
                            struct sigaction* before) {
  struct sigaction now {};
  if (libc_signals().sigaction(signal_number, nullptr, &now) != 0) return -1;  // no such signal
  SignalsClosed closed;
  std::lock_guard hold(writing);
  if (before != nullptr) *before = actions[signal_number];
  return next == nullptr ? 0 : put(signal_number, *next);
}

std::uint32_t interruptions() { return interrupted; }

}  // namespace terrane::platform
