// Atomic operations that the compiler leaves to calls (-fno-inline-atomics). On a word in shared
// memory each of them is a critical section of the job: it acquires what was released before the
// operation that came before it on that word, and releases what this thread did. Elsewhere, and in
// the section, it is the machine's own operation.
#include <cstdint>

#include "frontend/pages/objects/shared_object.h"

using namespace terrane::frontend::pages;

namespace {

// Words of any size in the same 8 bytes have one section.
template <typename Operation>
auto perform(const volatile void* word, Operation operation) {
  if (!is_shared(word)) return operation();
  auto around = reinterpret_cast<std::uintptr_t>(word) & ~std::uintptr_t{7};
  terrane::LockId section = terrane::protocol::object_id(ObjectKind::kAtomic, around);
  node()->lock_until(section, kForEver);
  auto result = operation();
  node()->unlock_held(section);
  return result;
}

template <typename Word>
Word load(const volatile void* from) {
  auto* word = static_cast<const volatile Word*>(from);
  return perform(word, [=] { return __atomic_load_n(word, __ATOMIC_SEQ_CST); });
}

template <typename Word>
void store(volatile void* to, Word value) {
  auto* word = static_cast<volatile Word*>(to);
  perform(word, [=] {
    __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
    return true;
  });
}

template <typename Word>
Word exchange(volatile void* at, Word value) {
  auto* word = static_cast<volatile Word*>(at);
  return perform(word, [=] { return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); });
}

// What is expected may lie in shared memory, too: it is touched outside of the section.
template <typename Word>
bool compare_exchange(volatile void* at, void* expected, Word desired) {
  auto* word = static_cast<volatile Word*>(at);
  Word wanted = *static_cast<Word*>(expected);
  Word found = perform(word, [=] {
    Word before = wanted;
    __atomic_compare_exchange_n(word, &before, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return before;
  });
  if (found != wanted) *static_cast<Word*>(expected) = found;
  return found == wanted;
}

// change(before): what the word is afterwards. Result: what it was.
template <typename Word, typename Change>
Word fetch(volatile void* at, Change change) {
  auto* word = static_cast<volatile Word*>(at);
  return perform(word, [=] {
    Word before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &before, change(before), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return before;
  });
}

}  // namespace

#pragma GCC visibility push(default)

// The compiler has these names for itself, so they are given by their symbols. NAME_fetch answers
// what the word is afterwards.
#define TERRANE_FETCH(SIZE, WORD, NAME, RESULT)                                            \
  WORD terrane_fetch_##NAME##_##SIZE(volatile void* at, WORD operand,                      \
                                     int) __asm__("__atomic_fetch_" #NAME "_" #SIZE);      \
  WORD terrane_fetch_##NAME##_##SIZE(volatile void* at, WORD operand, int) {               \
    return fetch<WORD>(at, [=](WORD before) { return static_cast<WORD>(RESULT); });        \
  }                                                                                        \
  WORD terrane_##NAME##_fetch_##SIZE(volatile void* at, WORD operand,                      \
                                     int) __asm__("__atomic_" #NAME "_fetch_" #SIZE);      \
  WORD terrane_##NAME##_fetch_##SIZE(volatile void* at, WORD operand, int) {               \
    WORD before = fetch<WORD>(at, [=](WORD before) { return static_cast<WORD>(RESULT); }); \
    return static_cast<WORD>(RESULT);                                                      \
  }

#define TERRANE_ATOMICS(SIZE, WORD)                                                               \
  WORD terrane_load_##SIZE(const volatile void* from, int) __asm__("__atomic_load_" #SIZE);       \
  WORD terrane_load_##SIZE(const volatile void* from, int) { return load<WORD>(from); }           \
  void terrane_store_##SIZE(volatile void* to, WORD value, int) __asm__("__atomic_store_" #SIZE); \
  void terrane_store_##SIZE(volatile void* to, WORD value, int) { store<WORD>(to, value); }       \
  WORD terrane_exchange_##SIZE(volatile void* at, WORD value,                                     \
                               int) __asm__("__atomic_exchange_" #SIZE);                          \
  WORD terrane_exchange_##SIZE(volatile void* at, WORD value, int) {                              \
    return exchange<WORD>(at, value);                                                             \
  }                                                                                               \
  bool terrane_compare_exchange_##SIZE(volatile void* at, void* expected, WORD desired, int,      \
                                       int) __asm__("__atomic_compare_exchange_" #SIZE);          \
  bool terrane_compare_exchange_##SIZE(volatile void* at, void* expected, WORD desired, int,      \
                                       int) {                                                     \
    return compare_exchange<WORD>(at, expected, desired);                                         \
  }                                                                                               \
  TERRANE_FETCH(SIZE, WORD, add, before + operand)                                                \
  TERRANE_FETCH(SIZE, WORD, sub, before - operand)                                                \
  TERRANE_FETCH(SIZE, WORD, and, before& operand)                                                 \
  TERRANE_FETCH(SIZE, WORD, or, before | operand)                                                 \
  TERRANE_FETCH(SIZE, WORD, xor, before ^ operand)                                                \
  TERRANE_FETCH(SIZE, WORD, nand, ~(before & operand))

extern "C" {

TERRANE_ATOMICS(1, std::uint8_t)
TERRANE_ATOMICS(2, std::uint16_t)
TERRANE_ATOMICS(4, std::uint32_t)
TERRANE_ATOMICS(8, std::uint64_t)

}  // extern "C"
#pragma GCC visibility pop
