// Mutexes and spin locks in shared memory are locks of the job. pthread_once is one, too.
#include <pthread.h>

#include <cerrno>
#include <cstring>

#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;
using terrane::frontend::next;

namespace {

constexpr int kKindMask = 3;  // of a mutex's type; above it lie attributes that are not served

int kind_of(const pthread_mutex_t* mutex) { return mutex->__data.__kind & kKindMask; }

// The thread holds the mutex already, and has said how long it wants to wait.
int lock_again(const char* call, pthread_mutex_t* mutex, bool tries) {
  if (kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE) {
    Hold* hold = find_hold(mutex);
    if (hold == nullptr) return add_hold(mutex, true) ? 0 : EAGAIN;
    if (hold->times == UINT32_MAX) return EAGAIN;
    ++hold->times;
    return 0;
  }
  if (tries) return EBUSY;
  if (kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
  static std::atomic_flag said;
  return refuse(said, EDEADLK,
                "{}: this thread holds the mutex at {} already, and it is not recursive; the call "
                "fails with EDEADLK",
                call, fmt::ptr(mutex));
}

int lock(const char* call, pthread_mutex_t* mutex, std::uint64_t until_ns) {
  switch (node()->lock_until(id_of(ObjectKind::kMutex, mutex), until_ns)) {
    case LockResult::kHeldAlready:
      return lock_again(call, mutex, until_ns == kNoWait);
    case LockResult::kBusy:
      return EBUSY;
    case LockResult::kExpired:
      return ETIMEDOUT;
    default:
      return 0;
  }
}

int unlock(pthread_mutex_t* mutex) {
  if (Hold* hold = find_hold(mutex)) {
    if (--hold->times == 0) drop_hold(mutex);
    return 0;
  }
  if (node()->unlock_held(id_of(ObjectKind::kMutex, mutex)) == LockResult::kOk) return 0;
  bool asks =
      kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK || kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE;
  if (asks) return EPERM;
  static std::atomic_flag said;
  return refuse(said, EPERM,
                "pthread_mutex_unlock: the mutex at {} is not held by this thread; in shared "
                "memory the thread that locked a mutex unlocks it. The call fails with EPERM",
                fmt::ptr(mutex));
}

int initialise(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  int type = PTHREAD_MUTEX_DEFAULT;
  int robust = PTHREAD_MUTEX_STALLED;
  int protocol = PTHREAD_PRIO_NONE;
  if (attributes != nullptr) {
    pthread_mutexattr_gettype(attributes, &type);
    pthread_mutexattr_getrobust(attributes, &robust);
    pthread_mutexattr_getprotocol(attributes, &protocol);
  }
  static std::atomic_flag said;
  if (robust != PTHREAD_MUTEX_STALLED || protocol != PTHREAD_PRIO_NONE)
    return refuse(said, ENOTSUP,
                  "pthread_mutex_init: the mutex at {} lies in shared memory, where mutexes are "
                  "neither robust nor have priorities; the call fails with ENOTSUP",
                  fmt::ptr(mutex));
  std::memset(mutex, 0, sizeof *mutex);
  mutex->__data.__kind = type;
  return 0;
}

int lock_until(const char* call, pthread_mutex_t* mutex, clockid_t clock, const timespec* time) {
  std::uint64_t until_ns = 0;
  if (!deadline(clock, time, until_ns)) return EINVAL;
  return lock(call, mutex, until_ns);
}

// Gives the lock of a pthread_once back, also when the routine throws.
struct OnceLock {
  terrane::LockId id;
  ~OnceLock() { node()->unlock_held(id); }
};

int call_once(pthread_once_t* control, void (*routine)()) {
  constexpr pthread_once_t kDone = 2;  // as the C library's
  OnceLock lock{id_of(ObjectKind::kOnce, control)};
  if (node()->lock_until(lock.id, kForEver) != LockResult::kOk) return EDEADLK;
  if (*control == kDone) return 0;
  routine();
  *control = kDone;
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  if (!is_shared(mutex)) return next<"pthread_mutex_init">(::pthread_mutex_init)(mutex, attributes);
  return initialise(mutex, attributes);
}

int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  if (!is_shared(mutex)) return next<"pthread_mutex_destroy">(::pthread_mutex_destroy)(mutex);
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (!is_shared(mutex)) return next<"pthread_mutex_lock">(::pthread_mutex_lock)(mutex);
  return lock("pthread_mutex_lock", mutex, kForEver);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (!is_shared(mutex)) return next<"pthread_mutex_trylock">(::pthread_mutex_trylock)(mutex);
  return lock("pthread_mutex_trylock", mutex, kNoWait);
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* time) noexcept {
  if (!is_shared(mutex))
    return next<"pthread_mutex_timedlock">(::pthread_mutex_timedlock)(mutex, time);
  return lock_until("pthread_mutex_timedlock", mutex, CLOCK_REALTIME, time);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                            const timespec* time) noexcept {
  if (!is_shared(mutex))
    return next<"pthread_mutex_clocklock">(::pthread_mutex_clocklock)(mutex, clock, time);
  return lock_until("pthread_mutex_clocklock", mutex, clock, time);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (!is_shared(mutex)) return next<"pthread_mutex_unlock">(::pthread_mutex_unlock)(mutex);
  return unlock(mutex);
}

int pthread_spin_init(pthread_spinlock_t* spin, int shared) noexcept {
  if (!is_shared(spin)) return next<"pthread_spin_init">(::pthread_spin_init)(spin, shared);
  return 0;
}

int pthread_spin_destroy(pthread_spinlock_t* spin) noexcept {
  if (!is_shared(spin)) return next<"pthread_spin_destroy">(::pthread_spin_destroy)(spin);
  return 0;
}

int pthread_spin_lock(pthread_spinlock_t* spin) noexcept {
  if (!is_shared(spin)) return next<"pthread_spin_lock">(::pthread_spin_lock)(spin);
  LockResult result = node()->lock_until(id_of(ObjectKind::kMutex, spin), kForEver);
  return result == LockResult::kHeldAlready ? EDEADLK : 0;
}

int pthread_spin_trylock(pthread_spinlock_t* spin) noexcept {
  if (!is_shared(spin)) return next<"pthread_spin_trylock">(::pthread_spin_trylock)(spin);
  LockResult result = node()->lock_until(id_of(ObjectKind::kMutex, spin), kNoWait);
  return result == LockResult::kOk ? 0 : EBUSY;
}

int pthread_spin_unlock(pthread_spinlock_t* spin) noexcept {
  if (!is_shared(spin)) return next<"pthread_spin_unlock">(::pthread_spin_unlock)(spin);
  LockResult result = node()->unlock_held(id_of(ObjectKind::kMutex, spin));
  return result == LockResult::kOk ? 0 : EPERM;
}

int pthread_once(pthread_once_t* control, void (*routine)()) {
  if (!is_shared(control)) return next<"pthread_once">(::pthread_once)(control, routine);
  return call_once(control, routine);
}

}  // extern "C"
#pragma GCC visibility pop
