#include "platform/wake_signal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "platform/fault_test_space.h"
#include "platform/program_signals.h"

namespace terrane::platform {
namespace {

void exit_wrong(int, siginfo_t*, void*) { _exit(44); }

void wake_a_reader() {
  signal(SIGBUS, SIG_DFL);
  FaultTestSpace space(FaultSourceKind::kSigsegv, 8);
  struct sigaction action {};
  action.sa_sigaction = exit_wrong;
  action.sa_flags = SA_SIGINFO;
  program_sigaction(SIGBUS, &action, nullptr);
  int ends[2];
  if (pipe(ends) != 0) _exit(45);
  std::atomic<pid_t> reader{0};
  std::thread thread([&] {
    ensure_signal_stack();
    sigset_t all;
    sigfillset(&all);
    program_sigmask(SIG_SETMASK, &all, nullptr);
    reader = gettid();
    char byte;
    bool was_woken = read(ends[0], &byte, 1) == -1 && errno == EINTR;
    _exit(was_woken ? 42 : 43);
  });
  for (;;) {
    if (reader != 0) wake_thread(reader);
    usleep(1000);
  }
}

// In a process of its own, since it installs the handlers of faults.
TEST(WakeSignalDeathTest, AThreadIsWokenWhateverTheProgramAsksOfSignals) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(wake_a_reader(), testing::ExitedWithCode(42), "");
}

TEST(WakeSignalTest, ASignalOfTheProgramIsNoWake) {
  siginfo_t info{};
  info.si_signo = SIGBUS;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  EXPECT_FALSE(is_wake(info));
  info.si_code = SI_TKILL;
  EXPECT_FALSE(is_wake(info));
}

}  // namespace
}  // namespace terrane::platform
