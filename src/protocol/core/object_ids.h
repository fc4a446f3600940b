#pragma once

#include <cstdint>

#include "base/ids.h"

namespace terrane::protocol {

// An object of the C library's threads in shared memory. Locks (a mutex, a pthread_once) are locks
// of the program; the others are counts.
enum class ObjectKind : std::uint8_t {
  kMutex = 1,
  kOnce,
  kCondition,
  kReadWriteLock,
  kSemaphore,
  kBarrier,
  kAtomic,  // a word whose atomic operations are calls
};

namespace detail {

inline constexpr std::uint64_t kObjectMask = (1ull << 56) - 1;
inline constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7b, kInverse = [] {
  std::uint64_t inverse = 1;  // Newton: each step doubles the number of correct bits
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  return inverse & kObjectMask;
}();
constexpr std::uint64_t swap_halves(std::uint64_t number) {
  return (number << 28 | number >> 28) & kObjectMask;
}

}  // namespace detail

// The token of the object at this address, which is a multiple of 4. The highest byte is the kind.
// The number below it is mixed: it decides which node manages the token, and objects often lie at
// equal distances.
constexpr LockId object_id(ObjectKind kind, std::uint64_t address) {
  std::uint64_t number = (address / 4 * detail::kMultiplier) & detail::kObjectMask;
  return LockId{static_cast<std::uint64_t>(kind) << 56 | detail::swap_halves(number)};
}
constexpr bool is_object(LockId id) { return id.value >> 56 != 0; }
constexpr ObjectKind kind_of(LockId object) { return static_cast<ObjectKind>(object.value >> 56); }
constexpr std::uint64_t address_of(LockId object) {
  std::uint64_t number = detail::swap_halves(object.value & detail::kObjectMask);
  return ((number * detail::kInverse) & detail::kObjectMask) * 4;
}
static_assert(address_of(object_id(ObjectKind::kMutex, 0x7fff'1234'5678)) == 0x7fff'1234'5678);

// Whether a thread that has the token holds a lock of the program.
constexpr bool is_lock(LockId id) {
  constexpr std::uint64_t kLastLock = 0xffffffffu;  // of locks with numbers; counts follow
  return is_object(id) ? kind_of(id) <= ObjectKind::kOnce : id.value <= kLastLock;
}

}  // namespace terrane::protocol
