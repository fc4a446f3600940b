// Calls about processes and time that fill in something small.
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/process_use.h"
#include "frontend/interpose/sleeping.h"

using namespace terrane::frontend;

namespace {

struct Pair {
  int ends[2];
};

void adopt_pair(int ends[2]) {
  for (int i = 0; i < 2; ++i) ends[i] = adopt(ends[i]);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pipe(int pair[2]) noexcept {
  Out<Pair> own(reinterpret_cast<Pair*>(pair));
  int result = next<"pipe">(::pipe)(own.get()->ends);
  if (result == 0) adopt_pair(own.get()->ends);
  return own.done(result);
}

int pipe2(int pair[2], int flags) noexcept {
  Out<Pair> own(reinterpret_cast<Pair*>(pair));
  int result = next<"pipe2">(::pipe2)(own.get()->ends, flags);
  if (result == 0) adopt_pair(own.get()->ends);
  return own.done(result);
}

int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  Out<rusage> own(usage);
  int result = next<"getrusage">(::getrusage)(who, own.get());
  ProcessUse* others = ProcessUse::get();
  if (result != 0 || who == RUSAGE_THREAD || others == nullptr) return own.done(result);
  Used used;
  rusage& part = who == RUSAGE_SELF ? used.self : used.children;
  part = *own.get();
  others->add_others(used);
  *own.get() = part;
  return own.done(result);
}

// What is left is returned when a signal has come, that is by an error.
int nanosleep(const timespec* time, timespec* left) {
  In<timespec> own(time);
  ForKernel<timespec> own_left;
  int result = cancellable_next<"nanosleep">(::nanosleep)(own.get(), own_left.get());
  if (result != 0 && errno == EINTR && left != nullptr) *left = *own_left;
  return slept(result);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  In<timespec> own(time);
  ForKernel<timespec> own_left;
  auto* call = next<"clock_nanosleep">(::clock_nanosleep);
  int error = cancellable([&] { return call(clock, flags, own.get(), own_left.get()); },
                          [](int result) { return result == EINTR; });
  bool relative = (flags & TIMER_ABSTIME) == 0;
  if (error == EINTR && left != nullptr && relative) *left = *own_left;
  return slept(error);
}

}  // extern "C"
#pragma GCC visibility pop
