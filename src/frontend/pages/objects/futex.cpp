#include "frontend/pages/objects/futex.h"

#include <linux/futex.h>

#include <cerrno>
#include <climits>

#include "frontend/pages/objects/shared_object.h"

extern "C" std::uint32_t terrane_load_4(const volatile void* from, int) __asm__("__atomic_load_4");

namespace terrane::frontend::pages {
namespace {

long fail(int error) {
  errno = error;
  return -1;
}

// When a wait ends: FUTEX_WAIT has a duration, FUTEX_WAIT_BITSET a time.
bool end_of_wait(int operation, const timespec* time, std::uint64_t& until_ns) {
  until_ns = kForEver;
  if (time == nullptr) return true;
  if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) {
    bool real = (operation & FUTEX_CLOCK_REALTIME) != 0;
    return deadline(real ? CLOCK_REALTIME : CLOCK_MONOTONIC, time, until_ns);
  }
  timespec end{};
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += time->tv_sec;
  end.tv_nsec += time->tv_nsec;
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  return deadline(CLOCK_MONOTONIC, &end, until_ns);
}

// The lock is held from the look at the word until the thread waits, and by a thread that wakes
// others: it changed the word before.
long wait(std::uint32_t* word, std::uint32_t value, std::uint64_t until_ns) {
  LockId mutex = id_of(ObjectKind::kMutex, word);
  node()->lock_until(mutex, kForEver);
  if (terrane_load_4(word, 0) != value) {
    node()->unlock_held(mutex);
    return fail(EAGAIN);
  }
  LockResult result =
      node()->wait_condition_until(id_of(ObjectKind::kCondition, word), mutex, until_ns);
  node()->unlock_held(mutex);
  return result == LockResult::kExpired ? fail(ETIMEDOUT) : 0;
}

long wake(std::uint32_t* word, std::uint32_t count) {
  LockId mutex = id_of(ObjectKind::kMutex, word);
  node()->lock_until(mutex, kForEver);
  node()->signal_condition(id_of(ObjectKind::kCondition, word), count > 1);
  node()->unlock_held(mutex);
  return count == INT_MAX ? 1 : static_cast<long>(count);
}

}  // namespace

long futex(std::uint32_t* word, int operation, std::uint32_t value, const timespec* time) {
  std::uint64_t until_ns = 0;
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      if (!end_of_wait(operation, time, until_ns)) return fail(EINVAL);
      return wait(word, value, until_ns);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
      return wake(word, value);
    default:
      return fail(ENOSYS);
  }
}

}  // namespace terrane::frontend::pages
