// Calls about time. What the C library answers without the kernel's help is handed through, too: it
// depends on the clock and on the machine which calls those are.
#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/process_signals.h"
#include "frontend/interpose/process_use.h"

using namespace terrane::frontend;

namespace {

bool has_timer_elsewhere(__itimer_which_t which) {
  ProcessSignals* signals = ProcessSignals::get();
  return which == ITIMER_REAL && signals != nullptr && signals->are_elsewhere();
}

clock_t ticks_of(const timeval& time) {
  static const long each_second = sysconf(_SC_CLK_TCK);
  return time.tv_sec * each_second + time.tv_usec * each_second / 1'000'000;
}

void add_others(tms& time) {
  Used used;
  ProcessUse::get()->add_others(used);
  time.tms_utime += ticks_of(used.self.ru_utime);
  time.tms_stime += ticks_of(used.self.ru_stime);
  time.tms_cutime += ticks_of(used.children.ru_utime);
  time.tms_cstime += ticks_of(used.children.ru_stime);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* to) noexcept {
  Out<timespec> own(to);
  int result = next<"clock_gettime">(::clock_gettime)(clock, own.get());
  ProcessUse* others = ProcessUse::get();
  if (clock != CLOCK_PROCESS_CPUTIME_ID || result != 0 || others == nullptr)
    return own.done(result);
  Used used;
  used.processor = *own.get();
  others->add_others(used);
  *own.get() = used.processor;
  return own.done(result);
}

clock_t times(tms* to) noexcept {
  Out<tms> own(to);
  clock_t result = next<"times">(::times)(own.get());
  if (to != nullptr && ProcessUse::get() != nullptr) add_others(*own.get());
  return own.done(result);
}

int getitimer(__itimer_which_t which, itimerval* to) noexcept {
  if (has_timer_elsewhere(which)) return ProcessSignals::get()->timer(nullptr, to);
  Out<itimerval> own(to);
  return own.done(next<"getitimer">(::getitimer)(which, own.get()));
}

int setitimer(__itimer_which_t which, const itimerval* time, itimerval* before) noexcept {
  if (time != nullptr && has_timer_elsewhere(which))
    return ProcessSignals::get()->timer(time, before);
  In<itimerval> own(time);
  Out<itimerval> own_before(before);
  return own_before.done(next<"setitimer">(::setitimer)(which, own.get(), own_before.get()));
}

}  // extern "C"
#pragma GCC visibility pop
