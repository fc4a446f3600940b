// Calls that libterrane_threads replaces by its own (frontend/threads): its threads, its current
// folder and its rights are those of all nodes.
#include <grp.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/new_thread.h"
#include "frontend/interpose/next.h"
#include "platform/mapping.h"

using namespace terrane::frontend;

#pragma GCC visibility push(default)
extern "C" {

// ThreadSanitizer must know a thread before any code of ours runs in it: threads get their stack at
// their first fault there.
#ifndef __SANITIZE_THREAD__
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) noexcept {
  return create_thread(thread, attributes, function, argument);
}
#endif

int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* to) noexcept {
  OutBytes own(to, bytes);
  auto* call = next<"pthread_getaffinity_np">(::pthread_getaffinity_np);
  int error = call(thread, bytes, static_cast<cpu_set_t*>(own.get()));
  return error != 0 ? error : own.done(0, bytes) == 0 ? 0 : EFAULT;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) noexcept {
  InBytes own(set, bytes);
  auto* call = next<"pthread_setaffinity_np">(::pthread_setaffinity_np);
  return call(thread, bytes, static_cast<const cpu_set_t*>(own.get()));
}

int setgroups(size_t count, const gid_t* groups) noexcept {
  InBytes own(groups, count * sizeof *groups);
  return next<"setgroups">(::setgroups)(count, static_cast<const gid_t*>(own.get()));
}

int getrlimit(__rlimit_resource_t what, rlimit* to) noexcept {
  Out<rlimit> own(to);
  return own.done(next<"getrlimit">(::getrlimit)(what, own.get()));
}

int getrlimit64(__rlimit_resource_t what, rlimit64* to) noexcept {
  Out<rlimit64> own(to);
  return own.done(next<"getrlimit64">(::getrlimit64)(what, own.get()));
}

int setrlimit(__rlimit_resource_t what, const rlimit* limit) noexcept {
  if (what == RLIMIT_FSIZE) terrane::platform::expect_file_size_limit();
  return next<"setrlimit">(::setrlimit)(what, In<rlimit>(limit).get());
}

int setrlimit64(__rlimit_resource_t what, const rlimit64* limit) noexcept {
  if (what == RLIMIT_FSIZE) terrane::platform::expect_file_size_limit();
  return next<"setrlimit64">(::setrlimit64)(what, In<rlimit64>(limit).get());
}

int prlimit(pid_t process, __rlimit_resource what, const rlimit* limit, rlimit* before) noexcept {
  if (what == RLIMIT_FSIZE && limit != nullptr) terrane::platform::expect_file_size_limit();
  In<rlimit> own(limit);
  Out<rlimit> own_before(before);
  return own_before.done(next<"prlimit">(::prlimit)(process, what, own.get(), own_before.get()));
}

int prlimit64(pid_t process, __rlimit_resource what, const rlimit64* limit,
              rlimit64* before) noexcept {
  if (what == RLIMIT_FSIZE && limit != nullptr) terrane::platform::expect_file_size_limit();
  In<rlimit64> own(limit);
  Out<rlimit64> own_before(before);
  auto* call = next<"prlimit64">(::prlimit64);
  return own_before.done(call(process, what, own.get(), own_before.get()));
}

int sethostname(const char* name, size_t bytes) noexcept {
  InBytes own(name, bytes);
  return next<"sethostname">(::sethostname)(static_cast<const char*>(own.get()), bytes);
}

int chroot(const char* path) noexcept { return next<"chroot">(::chroot)(InPath(path).get()); }

int chdir(const char* path) noexcept { return next<"chdir">(::chdir)(InPath(path).get()); }

}  // extern "C"
#pragma GCC visibility pop
