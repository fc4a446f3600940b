// Older forms of calls about masks of signals, and alarms: as the newer ones, which keep the
// signals of faults open.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace {

// The first 32 signals, as BSD has them.
sigset_t set_of(int mask) {
  sigset_t set;
  sigemptyset(&set);
  auto word = static_cast<unsigned>(mask);
  std::memcpy(&set, &word, sizeof word);
  return set;
}

// The mask before.
int change(int how, const sigset_t* set) {
  sigset_t before;
  pthread_sigmask(how, set, &before);
  unsigned word = 0;
  std::memcpy(&word, &before, sizeof word);
  return static_cast<int>(word);
}

int change_one(int how, int signal_number) {
  sigset_t one;
  sigemptyset(&one);
  return sigaddset(&one, signal_number) != 0 ? -1 : sigprocmask(how, &one, nullptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sigblock(int mask) noexcept {
  sigset_t set = set_of(mask);
  return change(SIG_BLOCK, &set);
}

int sigsetmask(int mask) noexcept {
  sigset_t set = set_of(mask);
  return change(SIG_SETMASK, &set);
}

int siggetmask(void) noexcept { return change(SIG_BLOCK, nullptr); }

int sighold(int signal_number) noexcept { return change_one(SIG_BLOCK, signal_number); }

int sigrelse(int signal_number) noexcept { return change_one(SIG_UNBLOCK, signal_number); }

// By a signal, as X/Open has it, or by a mask, as BSD has it.
int __sigpause(int signal_or_mask, int is_signal) {
  sigset_t set;
  if (is_signal == 0) {
    set = set_of(signal_or_mask);
  } else {
    pthread_sigmask(SIG_BLOCK, nullptr, &set);
    if (sigdelset(&set, signal_or_mask) != 0) return -1;
  }
  return sigsuspend(&set);
}

int __xpg_sigpause(int signal_number) { return __sigpause(signal_number, 1); }

useconds_t ualarm(useconds_t first_us, useconds_t then_us) noexcept {
  constexpr useconds_t kSecond = 1'000'000;
  itimerval time{}, before{};
  time.it_value = {static_cast<time_t>(first_us / kSecond),
                   static_cast<suseconds_t>(first_us % kSecond)};
  time.it_interval = {static_cast<time_t>(then_us / kSecond),
                      static_cast<suseconds_t>(then_us % kSecond)};
  if (setitimer(ITIMER_REAL, &time, &before) != 0) return static_cast<useconds_t>(-1);
  return static_cast<useconds_t>(before.it_value.tv_sec) * kSecond +
         static_cast<useconds_t>(before.it_value.tv_usec);
}

}  // extern "C"

// sigpause is the form of BSD; the header gives that name to the form of X/Open.
int terrane_bsd_sigpause(int mask) __asm__("sigpause");
int terrane_bsd_sigpause(int mask) { return __sigpause(mask, 0); }
#pragma GCC visibility pop
