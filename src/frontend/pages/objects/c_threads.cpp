// mtx_t, cnd_t and once_flag of <threads.h>, which are the C library's pthread objects by other
// names: in shared memory they are served as those.
#include <pthread.h>
#include <threads.h>

#include <cerrno>

#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;
using terrane::frontend::next;

static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t) && sizeof(cnd_t) == sizeof(pthread_cond_t) &&
              sizeof(once_flag) == sizeof(pthread_once_t));

namespace {

pthread_mutex_t* as_mutex(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* as_condition(cnd_t* condition) {
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int answer(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ETIMEDOUT:
      return thrd_timedout;
    case ENOMEM:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

int initialise(mtx_t* mutex, int type) {
  if ((type & ~(mtx_plain | mtx_timed | mtx_recursive)) != 0) return thrd_error;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  return answer(pthread_mutex_init(as_mutex(mutex), &attributes));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int mtx_init(mtx_t* mutex, int type) {
  if (!is_shared(mutex)) return next<"mtx_init">(::mtx_init)(mutex, type);
  return initialise(mutex, type);
}

void mtx_destroy(mtx_t* mutex) {
  if (!is_shared(mutex)) return next<"mtx_destroy">(::mtx_destroy)(mutex);
}

int mtx_lock(mtx_t* mutex) {
  if (!is_shared(mutex)) return next<"mtx_lock">(::mtx_lock)(mutex);
  return answer(pthread_mutex_lock(as_mutex(mutex)));
}

int mtx_trylock(mtx_t* mutex) {
  if (!is_shared(mutex)) return next<"mtx_trylock">(::mtx_trylock)(mutex);
  return answer(pthread_mutex_trylock(as_mutex(mutex)));
}

int mtx_timedlock(mtx_t* mutex, const timespec* time) {
  if (!is_shared(mutex)) return next<"mtx_timedlock">(::mtx_timedlock)(mutex, time);
  return answer(pthread_mutex_timedlock(as_mutex(mutex), time));
}

int mtx_unlock(mtx_t* mutex) {
  if (!is_shared(mutex)) return next<"mtx_unlock">(::mtx_unlock)(mutex);
  return answer(pthread_mutex_unlock(as_mutex(mutex)));
}

int cnd_init(cnd_t* condition) {
  if (!is_shared(condition)) return next<"cnd_init">(::cnd_init)(condition);
  return answer(pthread_cond_init(as_condition(condition), nullptr));
}

void cnd_destroy(cnd_t* condition) {
  if (!is_shared(condition)) return next<"cnd_destroy">(::cnd_destroy)(condition);
}

int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (!is_shared(condition) && !is_shared(mutex))
    return next<"cnd_wait">(::cnd_wait)(condition, mutex);
  return answer(pthread_cond_wait(as_condition(condition), as_mutex(mutex)));
}

int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* time) {
  if (!is_shared(condition) && !is_shared(mutex))
    return next<"cnd_timedwait">(::cnd_timedwait)(condition, mutex, time);
  return answer(pthread_cond_timedwait(as_condition(condition), as_mutex(mutex), time));
}

int cnd_signal(cnd_t* condition) {
  if (!is_shared(condition)) return next<"cnd_signal">(::cnd_signal)(condition);
  return answer(pthread_cond_signal(as_condition(condition)));
}

int cnd_broadcast(cnd_t* condition) {
  if (!is_shared(condition)) return next<"cnd_broadcast">(::cnd_broadcast)(condition);
  return answer(pthread_cond_broadcast(as_condition(condition)));
}

void call_once(once_flag* flag, void (*routine)()) {
  if (!is_shared(flag)) return next<"call_once">(::call_once)(flag, routine);
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}

}  // extern "C"
#pragma GCC visibility pop
