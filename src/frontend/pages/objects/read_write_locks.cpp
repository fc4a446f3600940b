// Read-write locks in shared memory. Requests are served in their order, so neither readers nor
// writers starve; a thread that reads already reads once more without waiting.
#include <pthread.h>

#include <cerrno>

#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;
using terrane::frontend::next;
using terrane::protocol::Units;

namespace {

// A reader takes one of the units that there are, a writer all.
constexpr std::int64_t units(bool writes) { return writes ? Units::kMostReaders : 1; }

int lock(pthread_rwlock_t* object, bool writes, std::uint64_t until_ns) {
  if (Hold* hold = find_hold(object)) {
    if (writes || hold->writes) return until_ns == kNoWait ? EBUSY : EDEADLK;
    if (hold->times == UINT32_MAX) return EAGAIN;
    ++hold->times;
    return 0;
  }
  terrane::LockId id = id_of(ObjectKind::kReadWriteLock, object);
  if (!node()->take_units(id, {units(writes), Units::kMostReaders}, until_ns))
    return until_ns == kNoWait ? EBUSY : ETIMEDOUT;
  if (add_hold(object, writes)) return 0;
  node()->change_count(id, terrane::protocol::CountOp::kAdd, units(writes));
  return EAGAIN;
}

int lock_until(pthread_rwlock_t* object, bool writes, clockid_t clock, const timespec* time) {
  std::uint64_t until_ns = 0;
  if (!deadline(clock, time, until_ns)) return EINVAL;
  return lock(object, writes, until_ns);
}

int unlock(pthread_rwlock_t* object) {
  static std::atomic_flag said;
  Hold* hold = find_hold(object);
  if (hold == nullptr)
    return refuse(
        said, EPERM,
        "pthread_rwlock_unlock: the read-write lock at {} is not held by this thread; the "
        "call fails with EPERM",
        fmt::ptr(object));
  if (--hold->times > 0) return 0;
  bool writes = hold->writes;
  drop_hold(object);
  node()->change_count(id_of(ObjectKind::kReadWriteLock, object), terrane::protocol::CountOp::kAdd,
                       units(writes));
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_rwlock_init(pthread_rwlock_t* object, const pthread_rwlockattr_t* attributes) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_init">(::pthread_rwlock_init)(object, attributes);
  return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object)) return next<"pthread_rwlock_destroy">(::pthread_rwlock_destroy)(object);
  return find_hold(object) == nullptr ? 0 : EBUSY;
}

int pthread_rwlock_rdlock(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object)) return next<"pthread_rwlock_rdlock">(::pthread_rwlock_rdlock)(object);
  return lock(object, false, kForEver);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_tryrdlock">(::pthread_rwlock_tryrdlock)(object);
  return lock(object, false, kNoWait);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t* object, const timespec* time) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_timedrdlock">(::pthread_rwlock_timedrdlock)(object, time);
  return lock_until(object, false, CLOCK_REALTIME, time);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t* object, clockid_t clock,
                               const timespec* time) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_clockrdlock">(::pthread_rwlock_clockrdlock)(object, clock, time);
  return lock_until(object, false, clock, time);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object)) return next<"pthread_rwlock_wrlock">(::pthread_rwlock_wrlock)(object);
  return lock(object, true, kForEver);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_trywrlock">(::pthread_rwlock_trywrlock)(object);
  return lock(object, true, kNoWait);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t* object, const timespec* time) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_timedwrlock">(::pthread_rwlock_timedwrlock)(object, time);
  return lock_until(object, true, CLOCK_REALTIME, time);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t* object, clockid_t clock,
                               const timespec* time) noexcept {
  if (!is_shared(object))
    return next<"pthread_rwlock_clockwrlock">(::pthread_rwlock_clockwrlock)(object, clock, time);
  return lock_until(object, true, clock, time);
}

int pthread_rwlock_unlock(pthread_rwlock_t* object) noexcept {
  if (!is_shared(object)) return next<"pthread_rwlock_unlock">(::pthread_rwlock_unlock)(object);
  return unlock(object);
}

}  // extern "C"
#pragma GCC visibility pop
