// Semaphores and barriers in shared memory.
#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/sleeping.h"
#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;
using terrane::frontend::call_elsewhere;
using terrane::frontend::cancellable;
using terrane::frontend::Elsewhere;
using terrane::frontend::In;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::slept;
using terrane::protocol::Arrival;
using terrane::protocol::CountOp;

namespace {

int fail(int error) {
  errno = error;
  return -1;
}

int take(sem_t* semaphore, std::uint64_t until_ns, int otherwise) {
  Interruptible wait;
  if (take_cancellably(id_of(ObjectKind::kSemaphore, semaphore), until_ns)) return 0;
  return fail(until_ns != kNoWait && wait.is_interrupted() ? EINTR : otherwise);
}

int take_until(sem_t* semaphore, clockid_t clock, const timespec* time) {
  std::uint64_t until_ns = 0;
  if (!deadline(clock, time, until_ns)) return fail(EINVAL);
  return take(semaphore, until_ns, ETIMEDOUT);
}

// A semaphore in private memory: one with a name is a node's, where calls about it are made.
bool is_other_nodes(const void* semaphore) { return is_elsewhere(semaphore); }

template <typename Result, typename... Parameters>
Result at_its_node(Result (*function)(sem_t*, Parameters...), sem_t* semaphore,
                   std::type_identity_t<Parameters>... more) {
  const void* opened = semaphore;
  return cancellable([&] { return call_elsewhere(opened, function, semaphore, more...); });
}

sem_t* own(sem_t* semaphore) {
  Elsewhere* elsewhere = Elsewhere::get();
  return elsewhere == nullptr ? semaphore : elsewhere->own_semaphore(semaphore);
}

// What a count of the job was before the change.
std::int64_t change(terrane::LockId count, CountOp op, std::int64_t operand) {
  std::int64_t before = 0;
  node()->change_count(count, op, operand, &before);
  return before;
}

int initialise(pthread_barrier_t* barrier, unsigned count) {
  if (count == 0 || count > INT_MAX) return EINVAL;
  terrane::LockId id = id_of(ObjectKind::kBarrier, barrier);
  change(id, CountOp::kReset, 0);
  change(id, CountOp::kTicket, count);
  return 0;
}

int arrive(pthread_barrier_t* barrier) {
  static std::atomic_flag said;
  switch (node()->arrive(id_of(ObjectKind::kBarrier, barrier))) {
    case Arrival::kLast:
      return PTHREAD_BARRIER_SERIAL_THREAD;
    case Arrival::kWaited:
      return 0;
    case Arrival::kNowhere:
      break;
  }
  return refuse(said, EINVAL,
                "pthread_barrier_wait: the barrier at {} was not initialised, or was destroyed; "
                "the call fails with EINVAL",
                fmt::ptr(barrier));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (!is_shared(semaphore)) return next<"sem_init">(::sem_init)(semaphore, shared, value);
  if (value > SEM_VALUE_MAX) return fail(EINVAL);
  change(id_of(ObjectKind::kSemaphore, semaphore), CountOp::kReset, value);
  return 0;
}

int sem_destroy(sem_t* semaphore) noexcept {
  if (!is_shared(semaphore)) return next<"sem_destroy">(::sem_destroy)(semaphore);
  return 0;
}

int sem_wait(sem_t* semaphore) {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_wait, semaphore);
    return next<"sem_wait">(::sem_wait)(own(semaphore));
  }
  return take(semaphore, kForEver, EAGAIN);
}

int sem_trywait(sem_t* semaphore) noexcept {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_trywait, semaphore);
    return next<"sem_trywait">(::sem_trywait)(own(semaphore));
  }
  return take(semaphore, kNoWait, EAGAIN);
}

int sem_timedwait(sem_t* semaphore, const timespec* time) {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_timedwait, semaphore, time);
    return next<"sem_timedwait">(::sem_timedwait)(own(semaphore), In<timespec>(time).get());
  }
  return slept(take_until(semaphore, CLOCK_REALTIME, time));
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* time) {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_clockwait, semaphore, clock, time);
    return next<"sem_clockwait">(::sem_clockwait)(own(semaphore), clock, In<timespec>(time).get());
  }
  return slept(take_until(semaphore, clock, time));
}

int sem_post(sem_t* semaphore) noexcept {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_post, semaphore);
    return next<"sem_post">(::sem_post)(own(semaphore));
  }
  if (node()->is_inside()) return fail(EDEADLK);  // what the handler would need, its thread holds
  change(id_of(ObjectKind::kSemaphore, semaphore), CountOp::kAdd, 1);
  return 0;
}

int sem_getvalue(sem_t* semaphore, int* value) noexcept {
  if (!is_shared(semaphore)) {
    if (is_other_nodes(semaphore)) return at_its_node(::sem_getvalue, semaphore, value);
    return next<"sem_getvalue">(::sem_getvalue)(own(semaphore), value);
  }
  std::int64_t left = change(id_of(ObjectKind::kSemaphore, semaphore), CountOp::kFree, 0);
  *value = static_cast<int>(std::clamp<std::int64_t>(left, 0, SEM_VALUE_MAX));
  return 0;
}

int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                         unsigned count) noexcept {
  if (!is_shared(barrier))
    return next<"pthread_barrier_init">(::pthread_barrier_init)(barrier, attributes, count);
  return initialise(barrier, count);
}

int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  if (!is_shared(barrier))
    return next<"pthread_barrier_destroy">(::pthread_barrier_destroy)(barrier);
  change(id_of(ObjectKind::kBarrier, barrier), CountOp::kReset, 0);
  return 0;
}

int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (!is_shared(barrier)) return next<"pthread_barrier_wait">(::pthread_barrier_wait)(barrier);
  return arrive(barrier);
}

}  // extern "C"
#pragma GCC visibility pop
