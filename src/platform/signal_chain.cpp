#include "platform/signal_chain.h"

#include <ucontext.h>

#include <mutex>

#include "platform/libc_signals.h"
#include "platform/program_handlers.h"
#include "platform/program_signals.h"

namespace terrane::platform {
namespace {

// The program's handlers may touch shared memory while this thread holds the page that it needs:
// they wait. Signals that end a program stay open, so that one stuck in a fault can be ended; so do
// those that a mistake raises at once.
sigset_t mask_while_handling() {
  sigset_t mask;
  sigfillset(&mask);
  for (int open : {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGINT, SIGTERM,
                   SIGQUIT, SIGHUP}) {
    sigdelset(&mask, open);
  }
  return mask;
}

// Death by the very signal that came. A fault comes again when its instruction does; a signal that
// was sent, or a trap, which lies behind the thread, is sent again.
void die_by_default(int signal_number, bool sent) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  libc_signals().sigaction(signal_number, &action, nullptr);
  if (sent) raise(signal_number);
}

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Where on its alternate stack this thread runs the program's handler of SIGBUS, SIGSEGV and
// SIGTRAP; 0: it does not. A handler may be left by siglongjmp, so this may be out of date: the
// next signal then begins at the stack's top again, not a whole signal frame below.
thread_local std::uintptr_t handler_frames[3] __attribute__((tls_model("initial-exec"))) = {};
constexpr std::uintptr_t kLeastSignalFrame = 1024;

std::uintptr_t& handler_frame(int signal_number) {
  return handler_frames[signal_number == SIGSEGV ? 1 : signal_number == SIGTRAP ? 2 : 0];
}

bool on_alternate_stack() {
  stack_t now{};
  return libc_signals().sigaltstack(nullptr, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0;
}

}  // namespace

// SA_NODEFER: a second fault inside the handler (no memory left, or our own mistake) shall be
// explained too. No SA_RESTART: wake_thread() ends system calls.
bool SignalChain::put_in_front() {
  struct sigaction action {};
  action.sa_sigaction = handler_;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_mask = mask_while_handling();
  return libc_signals().sigaction(signal_number_, &action, nullptr) == 0;
}

base::Result<void> SignalChain::install(Handler handler) {
  if (installed()) return {};
  handler_ = handler;
  if (libc_signals().sigaction(signal_number_, nullptr, &actions_[0]) != 0 || !put_in_front()) {
    return base::errno_error("cannot install the handler of page faults (sigaction)");
  }
  installed_.store(true, std::memory_order_release);
  return {};
}

bool SignalChain::restore() {
  struct sigaction now {};
  if (!installed() || libc_signals().sigaction(signal_number_, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == handler_) return false;
  exchange(&now, nullptr);
  adopted_.store(true, std::memory_order_release);
  return put_in_front();
}

// A writer fills the place that is not in use; only two writers in a row could change what a reader
// reads, which then looks again; adding nothing keeps the copy before that look.
struct sigaction SignalChain::current() {
  for (;;) {
    std::uint32_t version = version_.load(std::memory_order_acquire);
    struct sigaction action = actions_[version % 2];
    if (version_.fetch_add(0, std::memory_order_acq_rel) == version) return action;
  }
}

void SignalChain::exchange(const struct sigaction* next, struct sigaction* before) {
  SignalsClosed closed;
  std::lock_guard hold(writing_);
  std::uint32_t version = version_.load(std::memory_order_acquire);
  if (before != nullptr) *before = actions_[version % 2];
  if (next == nullptr) return;
  adopted_.store(false, std::memory_order_relaxed);
  actions_[(version + 1) % 2] = *next;
  version_.store(version + 1, std::memory_order_release);
}

// The action that this signal takes: SA_RESETHAND lets one signal alone have it.
struct sigaction SignalChain::take() {
  struct sigaction action = current();
  if (!has_handler(action) || (action.sa_flags & static_cast<int>(SA_RESETHAND)) == 0)
    return action;
  struct sigaction reset = action;
  reset.sa_flags &= ~(SA_SIGINFO | static_cast<int>(SA_RESETHAND));
  reset.sa_handler = SIG_DFL;
  exchange(&reset, &action);
  return action;
}

bool SignalChain::program_handles() { return has_handler(current()); }

void SignalChain::pass_on(siginfo_t* info, void* context) {
  bool sent = info->si_code <= 0;
  struct sigaction action = take();
  bool with_info = (action.sa_flags & SA_SIGINFO) != 0;
  if (!with_info && action.sa_handler == SIG_IGN && sent) return;
  auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  // A fault of its own inside a handler that has not asked for that kills, as it would without us.
  std::uintptr_t& frame = handler_frame(signal_number_);
  bool again = frame > here + kLeastSignalFrame;
  bool inside = again && (action.sa_flags & SA_NODEFER) == 0 && !sent;
  // Such a handler hands the signal on to the action before it, which it takes to be ours.
  inside = inside || (again && adopted_.load(std::memory_order_acquire));
  if (!has_handler(action) || inside) {
    libc_signals().set_mask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    die_by_default(signal_number_, sent || signal_number_ == SIGTRAP);
    return;
  }
  std::uintptr_t before = frame;
  frame = on_alternate_stack() ? here : 0;
  run(action, info, context);
  frame = before > here + kLeastSignalFrame ? before : 0;
}

void SignalChain::run(const struct sigaction& action, siginfo_t* info, void* context) const {
  sigset_t mask;
  sigorset(&mask, &static_cast<ucontext_t*>(context)->uc_sigmask, &action.sa_mask);
  sigdelset(&mask, SIGBUS);
  sigdelset(&mask, SIGSEGV);
  if (is_fault_signal(SIGTRAP)) sigdelset(&mask, SIGTRAP);
  libc_signals().set_mask(SIG_SETMASK, &mask, nullptr);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal_number_, info, context);
  } else {
    action.sa_handler(signal_number_);
  }
}

}  // namespace terrane::platform
