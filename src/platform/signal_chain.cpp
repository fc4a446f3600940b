#include "platform/signal_chain.h"

#include <ucontext.h>

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

// Death by the very signal that came. A fault comes again when its instruction does; a sent signal
// is sent again.
void die_by_default(int signal_number, bool sent) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, nullptr);
  if (sent) raise(signal_number);
}

}  // namespace

// SA_NODEFER: a second fault inside the handler (no memory left, or our own mistake) shall be
// explained too.
base::Result<void> SignalChain::install(Handler handler) {
  if (installed_) return {};
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  action.sa_mask = mask_while_handling();
  if (sigaction(signal_number_, nullptr, &earlier_) != 0 ||
      sigaction(signal_number_, &action, nullptr) != 0) {
    return base::errno_error("cannot install the handler of page faults (sigaction)");
  }
  installed_ = true;
  return {};
}

void SignalChain::pass_on(siginfo_t* info, void* context) const {
  bool sent = info->si_code <= 0;
  bool with_info = (earlier_.sa_flags & SA_SIGINFO) != 0;
  if (!with_info && earlier_.sa_handler == SIG_IGN && sent) return;
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  if (!with_info && (earlier_.sa_handler == SIG_DFL || earlier_.sa_handler == SIG_IGN)) {
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
    die_by_default(signal_number_, sent);
    return;
  }
  sigorset(&mask, &mask, &earlier_.sa_mask);
  if ((earlier_.sa_flags & SA_NODEFER) == 0) sigaddset(&mask, signal_number_);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (with_info) {
    earlier_.sa_sigaction(signal_number_, info, context);
  } else {
    earlier_.sa_handler(signal_number_);
  }
}

}  // namespace terrane::platform
