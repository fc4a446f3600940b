#include "platform/program_signals.h"

#include <cerrno>

#include "platform/crash_signals.h"
#include "platform/fault_signal.h"
#include "platform/libc_signals.h"
#include "platform/program_handlers.h"

namespace terrane::platform {
namespace {

struct Bit {
  int signal_number;
  std::uint8_t bit;
};
constexpr Bit kBits[] = {{SIGBUS, 1}, {SIGSEGV, 2}, {SIGTRAP, 4}};

thread_local std::uint8_t closed __attribute__((tls_model("initial-exec"))) = 0;

std::uint8_t bits_of(const sigset_t& set) {
  std::uint8_t bits = 0;
  for (const Bit& one : kBits) {
    if (is_fault_signal(one.signal_number) && sigismember(&set, one.signal_number) == 1)
      bits |= one.bit;
  }
  return bits;
}

void add_bits(sigset_t& set, std::uint8_t bits) {
  for (const Bit& one : kBits) {
    if ((bits & one.bit) != 0) sigaddset(&set, one.signal_number);
  }
}

void believe(int how, std::uint8_t bits) {
  if (how == SIG_BLOCK) {
    closed = static_cast<std::uint8_t>(closed | bits);
  } else if (how == SIG_UNBLOCK) {
    closed = static_cast<std::uint8_t>(closed & ~bits);
  } else {
    closed = bits;
  }
}

}  // namespace

sigset_t without_fault_signals(const sigset_t& mask) {
  sigset_t open = mask;
  for (const Bit& one : kBits)
    if (is_fault_signal(one.signal_number)) sigdelset(&open, one.signal_number);
  return open;
}

int program_sigaction(int signal_number, const struct sigaction* action, struct sigaction* before) {
  struct sigaction next {};
  struct sigaction last {};
  if (action != nullptr) next = *action;  // here, in front of locks: it may lie in shared memory
  if (SignalChain* chain = chain_of(signal_number); chain != nullptr) {
    chain->exchange(action != nullptr ? &next : nullptr, &last);
  } else if (has_program_handlers()) {
    if (exchange_program_action(signal_number, action != nullptr ? &next : nullptr, &last) != 0)
      return -1;
  } else {
    next.sa_mask = without_fault_signals(next.sa_mask);
    int result =
        libc_signals().sigaction(signal_number, action != nullptr ? &next : nullptr, &last);
    if (result != 0) return result;
    hide_crash_handler(last);
  }
  if (before != nullptr) *before = last;
  return 0;
}

int program_sigmask(int how, const sigset_t* set, sigset_t* before) {
  std::uint8_t closed_before = closed;
  sigset_t next;
  sigset_t last;
  if (set != nullptr) next = how == SIG_UNBLOCK ? *set : without_fault_signals(*set);
  int error = libc_signals().set_mask(how, set != nullptr ? &next : nullptr, &last);
  if (error != 0) return error;
  if (set != nullptr) believe(how, bits_of(*set));
  if (before != nullptr) {
    add_bits(last, closed_before);
    *before = last;
  }
  return 0;
}

void open_fault_signals() {
  sigset_t faults;
  sigset_t before;
  sigemptyset(&faults);
  for (const Bit& one : kBits)
    if (is_fault_signal(one.signal_number)) sigaddset(&faults, one.signal_number);
  if (libc_signals().set_mask(SIG_UNBLOCK, &faults, &before) == 0) {
    closed = static_cast<std::uint8_t>(closed | bits_of(before));
  }
}

std::uint8_t believed_closed() { return closed; }
void believe_closed(std::uint8_t signals) { closed = signals; }

}  // namespace terrane::platform
