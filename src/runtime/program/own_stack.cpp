#include "runtime/program/own_stack.h"

#include "platform/libc_signals.h"

namespace terrane::runtime {
namespace {

// Without a constructor; initial-exec: a signal handler writes it.
thread_local sigset_t mask_before __attribute__((tls_model("initial-exec")));

}  // namespace

void postpone_signals(const sigset_t& mask) {
  OwnStack& own = own_stack();
  if (!own.has_signal) mask_before = mask;
  own.has_signal = true;
}

void take_signals() {
  own_stack().has_signal = false;
  platform::libc_signals().set_mask(SIG_SETMASK, &mask_before, nullptr);
}

}  // namespace terrane::runtime
