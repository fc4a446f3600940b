// Condition variables in shared memory, with mutexes in shared memory.
#include <pthread.h>

#include <cerrno>
#include <cstring>

#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/sleeping.h"
#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;
using terrane::frontend::cancellable;
using terrane::frontend::next;
using terrane::frontend::slept;

namespace {

// Of a pthread_cond_t in shared memory. Zeroed memory is a condition with the default clock.
struct SharedCondition {
  clockid_t clock;
};
static_assert(sizeof(SharedCondition) <= sizeof(pthread_cond_t) && CLOCK_REALTIME == 0);

clockid_t clock_of(const pthread_cond_t* condition) {
  SharedCondition shared{};
  std::memcpy(&shared, condition, sizeof shared);
  return shared.clock;
}

int wait(const char* call, pthread_cond_t* condition, pthread_mutex_t* mutex,
         std::uint64_t until_ns) {
  static std::atomic_flag said_apart, said_held;
  if (!is_shared(condition) || !is_shared(mutex))
    return refuse(said_apart, EINVAL,
                  "{}: the condition variable at {} and the mutex at {} do not both lie in shared "
                  "memory; the call fails with EINVAL",
                  call, fmt::ptr(condition), fmt::ptr(mutex));
  LockResult result = cancellable(
      [&] {
        return node()->wait_condition_until(id_of(ObjectKind::kCondition, condition),
                                            id_of(ObjectKind::kMutex, mutex),
                                            cancellable_limit(until_ns));
      },
      [](LockResult end) { return end == LockResult::kExpired; });
  if (result == LockResult::kOk) return 0;
  if (result == LockResult::kExpired) return ETIMEDOUT;
  return refuse(said_held, EPERM,
                "{}: the mutex at {} is not held by this thread; the call fails with EPERM", call,
                fmt::ptr(mutex));
}

int wait_until(const char* call, pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
               const timespec* time) {
  std::uint64_t until_ns = 0;
  if (!deadline(clock, time, until_ns)) return EINVAL;
  return wait(call, condition, mutex, until_ns);
}

bool are_private(const pthread_cond_t* condition, const pthread_mutex_t* mutex) {
  return !is_shared(condition) && !is_shared(mutex);
}

int signal(pthread_cond_t* condition, bool all) {
  node()->signal_condition(id_of(ObjectKind::kCondition, condition), all);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  if (!is_shared(condition))
    return next<"pthread_cond_init">(::pthread_cond_init)(condition, attributes);
  SharedCondition shared{CLOCK_REALTIME};
  if (attributes != nullptr) pthread_condattr_getclock(attributes, &shared.clock);
  std::memset(static_cast<void*>(condition), 0, sizeof *condition);
  std::memcpy(static_cast<void*>(condition), &shared, sizeof shared);
  return 0;
}

int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (!is_shared(condition)) return next<"pthread_cond_destroy">(::pthread_cond_destroy)(condition);
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (are_private(condition, mutex))
    return next<"pthread_cond_wait">(::pthread_cond_wait)(condition, mutex);
  return wait("pthread_cond_wait", condition, mutex, kForEver);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* time) {
  if (are_private(condition, mutex))
    return next<"pthread_cond_timedwait">(::pthread_cond_timedwait)(condition, mutex, time);
  clockid_t clock = is_shared(condition) ? clock_of(condition) : CLOCK_REALTIME;
  return slept(wait_until("pthread_cond_timedwait", condition, mutex, clock, time));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* time) {
  if (are_private(condition, mutex))
    return next<"pthread_cond_clockwait">(::pthread_cond_clockwait)(condition, mutex, clock, time);
  return slept(wait_until("pthread_cond_clockwait", condition, mutex, clock, time));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (!is_shared(condition)) return next<"pthread_cond_signal">(::pthread_cond_signal)(condition);
  return signal(condition, false);
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (!is_shared(condition))
    return next<"pthread_cond_broadcast">(::pthread_cond_broadcast)(condition);
  return signal(condition, true);
}

}  // extern "C"
#pragma GCC visibility pop
