// Timers of timer_create(2). Each belongs to the node of the thread that has made it: its number
// says which, and calls of other nodes about it run there.
#include <signal.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/notices.h"

using namespace terrane::frontend;

namespace {

// The kernel's numbers are below it.
constexpr int kNodeShift = 40;

std::uint64_t number_of(timer_t timer) { return reinterpret_cast<std::uintptr_t>(timer); }

timer_t with_node(timer_t timer) {
  return reinterpret_cast<timer_t>(number_of(timer) | std::uint64_t{Notices::get()->self()}
                                                          << kNodeShift);
}

std::uint32_t node_of(timer_t timer) {
  return static_cast<std::uint32_t>(number_of(timer) >> kNodeShift);
}

// As this node's kernel knows it. The C library's own have negative numbers.
timer_t here(timer_t timer) {
  if (Notices::get() == nullptr) return timer;
  return reinterpret_cast<timer_t>(number_of(timer) & ((std::uint64_t{1} << kNodeShift) - 1));
}

bool is_elsewhere(timer_t timer) {
  Notices* notices = Notices::get();
  return notices != nullptr && notices->asks() && node_of(timer) != notices->self();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  Notices* notices = Notices::get();
  bool is_programs = notices != nullptr && notices->asks();
  InOut<sigevent> own(event);
  Out<timer_t> own_timer(timer);
  bool starts_thread = is_programs && event != nullptr && event->sigev_notify == SIGEV_THREAD;
  int result = starts_thread
                   ? notices->create_timer(clock, *own.get(), *own_timer.get())
                   : next<"timer_create">(::timer_create)(clock, own.get(), own_timer.get());
  if (result == 0 && is_programs) *own_timer.get() = with_node(*own_timer.get());
  return own_timer.done(result);
}

int timer_gettime(timer_t timer, itimerspec* to) noexcept {
  if (is_elsewhere(timer)) return call_on(node_of(timer), ::timer_gettime, timer, to);
  Out<itimerspec> own(to);
  return own.done(next<"timer_gettime">(::timer_gettime)(here(timer), own.get()));
}

int timer_settime(timer_t timer, int flags, const itimerspec* time, itimerspec* before) noexcept {
  if (is_elsewhere(timer))
    return call_on(node_of(timer), ::timer_settime, timer, flags, time, before);
  In<itimerspec> own(time);
  Out<itimerspec> own_before(before);
  auto* call = next<"timer_settime">(::timer_settime);
  return own_before.done(call(here(timer), flags, own.get(), own_before.get()));
}

int timer_getoverrun(timer_t timer) noexcept {
  if (is_elsewhere(timer)) return call_on(node_of(timer), ::timer_getoverrun, timer);
  return next<"timer_getoverrun">(::timer_getoverrun)(here(timer));
}

int timer_delete(timer_t timer) noexcept {
  if (is_elsewhere(timer)) return call_on(node_of(timer), ::timer_delete, timer);
  if (Notices::get() != nullptr) Notices::get()->forget_timer(here(timer));
  return next<"timer_delete">(::timer_delete)(here(timer));
}

}  // extern "C"
#pragma GCC visibility pop
