#include "platform/crash_signals.h"

#include <atomic>

#include "platform/libc_signals.h"

namespace terrane::platform {
namespace {

constexpr int kSignals[] = {SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
std::atomic<CrashReport> the_report{nullptr};

// The action is the default again (SA_RESETHAND): a mistake is made once more when this returns,
// and a sent signal is sent again.
void on_crash(int signal_number, siginfo_t* info, void* context) {
  report_crash(signal_number, info, context);
  if (info->si_code <= 0) raise(signal_number);
}

}  // namespace

void report_crashes(CrashReport report) {
  the_report.store(report);
  for (int signal_number : kSignals) {
    struct sigaction action {};
    if (libc_signals().sigaction(signal_number, nullptr, &action) != 0) continue;
    if ((action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_sigaction = on_crash;
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    libc_signals().sigaction(signal_number, &action, nullptr);
  }
}

bool reports_crashes() { return the_report.load() != nullptr; }

void report_crash(int signal_number, const siginfo_t* info, void* context) {
  if (CrashReport report = the_report.load()) report(signal_number, info, context);
}

void hide_crash_handler(struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) == 0 || action.sa_sigaction != on_crash) return;
  action = {};
  action.sa_handler = SIG_DFL;
}

sighandler_t without_crash_handler(sighandler_t handler) {
  bool is_ours = reinterpret_cast<void*>(handler) == reinterpret_cast<void*>(on_crash);
  return is_ours ? SIG_DFL : handler;
}

}  // namespace terrane::platform
