// Atomic operations that the compiler leaves to calls (-fno-inline-atomics). On a word in shared
// memory each of them is a critical section of the job: it acquires what was released before the
// operation that came before it on that word, and releases what this thread did. Elsewhere, and in
// the section, it is the machine's own operation. In OpenMP programs words of 1 to 8 bytes are
// changed in their home's memory, and a relaxed operation has no section: nothing is seen with it.
// In programs with threads their pages become synchronisation pages.
// A word that is not aligned (of a packed structure) is changed in a section always.
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "runtime/before_operations.h"

using terrane::frontend::next;
using namespace terrane::frontend::pages;
using terrane::protocol::AtomicKind;
using terrane::protocol::AtomicOp;

namespace {

bool on_pages = false;  // words are in synchronisation pages, or in no shared memory

// Words of any size in the same 8 bytes have one section.
template <typename Operation>
auto perform_in_section(const volatile void* word, Operation operation) {
  if (!is_shared(word)) return operation();
  auto around = reinterpret_cast<std::uintptr_t>(word) & ~std::uintptr_t{7};
  terrane::LockId section = terrane::protocol::object_id(ObjectKind::kAtomic, around);
  node()->lock_until(section, kForEver);
  auto result = operation();
  node()->unlock_held(section);
  return result;
}

// On an aligned word.
template <typename Operation>
auto perform(const volatile void* word, Operation operation) {
  if (!on_pages) return perform_in_section(word, operation);
  if (is_shared(word)) {
    terrane::runtime::begin_operation();
    auto outcome = node()->promote(const_cast<const void*>(word), 1);
    if (!outcome.ok()) node()->fail(outcome.message);
  }
  return operation();
}

const void* (*seen_in_space)(const void*) = nullptr;  // nullptr: sections only

bool is_at_home(const volatile void* word) { return seen_in_space != nullptr && is_shared(word); }

// An operation in the home's memory, on an aligned word; what it was.
std::uint64_t at_home(const volatile void* word, AtomicOp op) {
  std::uint64_t before = 0;
  auto outcome = node()->atomic(seen_in_space(const_cast<const void*>(word)), op, before);
  if (!outcome.ok()) node()->fail(outcome.message);
  return before;
}

// change(before, after): whether the word becomes `after`. Result: what it was.
template <typename Word, typename Change>
Word change_at_home(const volatile void* at, Change change) {
  constexpr auto kBytes = static_cast<std::uint8_t>(sizeof(Word));
  auto before = static_cast<Word>(at_home(at, {AtomicKind::kLoad, kBytes}));
  for (;;) {
    Word after = before;
    if (!change(before, after)) return before;
    auto found =
        static_cast<Word>(at_home(at, {AtomicKind::kCompareSwap, kBytes, 0, after, before}));
    if (found == before) return before;
    before = found;
  }
}

// An operation at home, in a section unless it is relaxed.
template <typename Operation>
auto ordered(const volatile void* word, int order, Operation operation) {
  return order == __ATOMIC_RELAXED ? operation() : perform(word, operation);
}

template <typename Word>
bool is_aligned(const volatile void* word) {
  return reinterpret_cast<std::uintptr_t>(word) % sizeof(Word) == 0;
}

// Whether `change` is to be used for a word: no operation of the machine changes it right.
template <typename Word>
bool needs_change(const volatile void* word) {
  return is_at_home(word) || (!is_aligned<Word>(word) && is_shared(word));
}

template <typename Word, typename Change>
Word change_bytes(const volatile void* at, Change change) {
  return perform_in_section(at, [=] {
    void* bytes = const_cast<void*>(at);
    Word before;
    std::memcpy(&before, bytes, sizeof before);
    Word after = before;
    if (change(before, after)) std::memcpy(bytes, &after, sizeof after);
    return before;
  });
}

template <typename Word, typename Change>
Word change(const volatile void* at, int order, Change change) {
  if (!is_aligned<Word>(at)) return change_bytes<Word>(at, change);
  return ordered(at, order, [=] { return change_at_home<Word>(at, change); });
}

// A thread that loads one word again and again waits for another thread, which may need this node,
// or the processor.
constexpr std::uint32_t kLoadsUntilLook = 16, kLoadsUntilYield = 256;
thread_local const volatile void* loaded_last = nullptr;
thread_local std::uint32_t loaded_on_end = 0;

void note_load(const volatile void* word) {
  if (std::exchange(loaded_last, word) != word) loaded_on_end = 0;
  ++loaded_on_end;
  if (loaded_on_end % kLoadsUntilLook == 0) node()->look();
  if (loaded_on_end % kLoadsUntilYield == 0) next<"sched_yield">(::sched_yield)();
}

template <typename Word>
Word load(const volatile void* from, int order) {
  if (is_at_home(from)) note_load(from);
  if (needs_change<Word>(from)) return change<Word>(from, order, [](Word, Word&) { return false; });
  auto* word = static_cast<const volatile Word*>(from);
  return perform(word, [=] { return __atomic_load_n(word, __ATOMIC_SEQ_CST); });
}

template <typename Word>
Word exchange(volatile void* at, Word value, int order) {
  if (needs_change<Word>(at))
    return change<Word>(at, order, [=](Word, Word& after) {
      after = value;
      return true;
    });
  auto* word = static_cast<volatile Word*>(at);
  return perform(word, [=] { return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); });
}

template <typename Word>
void store(volatile void* to, Word value, int order) {
  if (is_at_home(to) && is_aligned<Word>(to)) {
    ordered(to, order, [=] { return at_home(to, {AtomicKind::kStore, sizeof(Word), 0, value}); });
    return;
  }
  exchange<Word>(to, value, order);
}

// What is expected may lie in shared memory, too: it is touched outside of the section.
template <typename Word>
bool compare_exchange(volatile void* at, void* expected, Word desired, int order) {
  auto* word = static_cast<volatile Word*>(at);
  Word wanted = *static_cast<Word*>(expected), found;
  if (needs_change<Word>(at)) {
    found = change<Word>(at, order, [=](Word before, Word& after) {
      after = desired;
      return before == wanted;
    });
  } else {
    found = perform(word, [=] {
      Word before = wanted;
      __atomic_compare_exchange_n(word, &before, desired, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
      return before;
    });
  }
  if (found != wanted) *static_cast<Word*>(expected) = found;
  return found == wanted;
}

// result(before): what the word is afterwards. The function's: what it was. A home changes a word
// by `kind` and an operand itself; kLoad: it does not.
template <typename Word, typename Result>
Word fetch(volatile void* at, AtomicKind kind, Word operand, int order, Result result) {
  bool at_once = kind != AtomicKind::kLoad && is_aligned<Word>(at);
  if (at_once && is_at_home(at))
    return ordered(at, order, [=] {
      return static_cast<Word>(at_home(at, {kind, sizeof(Word), 0, operand}));
    });
  if (needs_change<Word>(at))
    return change<Word>(at, order, [=](Word before, Word& after) {
      after = result(before);
      return true;
    });
  auto* word = static_cast<volatile Word*>(at);
  return perform(word, [=] {
    Word before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &before, result(before), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
    }
    return before;
  });
}

// Objects of 16 bytes, and of sizes that no machine word has: bytes that are copied in the section;
// elsewhere under one lock of the process.
std::atomic_flag wide_lock;

template <typename Operation>
auto perform_wide(const volatile void* object, Operation operation) {
  if (is_shared(object)) return perform_in_section(object, operation);
  while (wide_lock.test_and_set(std::memory_order_acquire)) {
  }
  auto result = operation();
  wide_lock.clear(std::memory_order_release);
  return result;
}

using Wide = unsigned __int128;

Wide load_wide(const volatile void* from) {
  return perform_wide(from, [=] { return *static_cast<const volatile Wide*>(from); });
}
Wide change_wide(volatile void* at, auto change) {
  return perform_wide(at, [=] {
    Wide before = *static_cast<volatile Wide*>(at);
    *static_cast<volatile Wide*>(at) = change(before);
    return before;
  });
}
bool compare_exchange_wide(volatile void* at, void* expected, Wide desired) {
  Wide wanted = *static_cast<Wide*>(expected);
  Wide found = change_wide(at, [=](Wide before) { return before == wanted ? desired : before; });
  if (found != wanted) *static_cast<Wide*>(expected) = found;
  return found == wanted;
}

void* plain(const volatile void* object) { return const_cast<void*>(object); }

}  // namespace

namespace terrane::frontend::pages {

void serve_atomics_on_pages() { on_pages = true; }

void serve_atomics_at_home(const void* (*in_space)(const void* word)) { seen_in_space = in_space; }

}  // namespace terrane::frontend::pages

#pragma GCC visibility push(default)

// The compiler has these names for itself, so they are given by their symbols. NAME_fetch answers
// what the word is afterwards.
#define TERRANE_FETCH(SIZE, WORD, NAME, KIND, OPERAND, RESULT)                              \
  WORD terrane_fetch_##NAME##_##SIZE(volatile void* at, WORD operand,                       \
                                     int order) __asm__("__atomic_fetch_" #NAME "_" #SIZE); \
  WORD terrane_fetch_##NAME##_##SIZE(volatile void* at, WORD operand, int order) {          \
    return fetch<WORD>(at, AtomicKind::KIND, static_cast<WORD>(OPERAND), order,             \
                       [=](WORD before) { return static_cast<WORD>(RESULT); });             \
  }                                                                                         \
  WORD terrane_##NAME##_fetch_##SIZE(volatile void* at, WORD operand,                       \
                                     int order) __asm__("__atomic_" #NAME "_fetch_" #SIZE); \
  WORD terrane_##NAME##_fetch_##SIZE(volatile void* at, WORD operand, int order) {          \
    WORD before = fetch<WORD>(at, AtomicKind::KIND, static_cast<WORD>(OPERAND), order,      \
                              [=](WORD before) { return static_cast<WORD>(RESULT); });      \
    return static_cast<WORD>(RESULT);                                                       \
  }

#define TERRANE_ATOMICS(SIZE, WORD)                                                                \
  WORD terrane_load_##SIZE(const volatile void* from, int order) __asm__("__atomic_load_" #SIZE);  \
  WORD terrane_load_##SIZE(const volatile void* from, int order) {                                 \
    return load<WORD>(from, order);                                                                \
  }                                                                                                \
  void terrane_store_##SIZE(volatile void* to, WORD value,                                         \
                            int order) __asm__("__atomic_store_" #SIZE);                           \
  void terrane_store_##SIZE(volatile void* to, WORD value, int order) {                            \
    store<WORD>(to, value, order);                                                                 \
  }                                                                                                \
  WORD terrane_exchange_##SIZE(volatile void* at, WORD value,                                      \
                               int order) __asm__("__atomic_exchange_" #SIZE);                     \
  WORD terrane_exchange_##SIZE(volatile void* at, WORD value, int order) {                         \
    return exchange<WORD>(at, value, order);                                                       \
  }                                                                                                \
  bool terrane_compare_exchange_##SIZE(volatile void* at, void* expected, WORD desired, int order, \
                                       int) __asm__("__atomic_compare_exchange_" #SIZE);           \
  bool terrane_compare_exchange_##SIZE(volatile void* at, void* expected, WORD desired, int order, \
                                       int failure) {                                              \
    return compare_exchange<WORD>(at, expected, desired, order | failure);                         \
  }                                                                                                \
  TERRANE_FETCH(SIZE, WORD, add, kAdd, operand, before + operand)                                  \
  TERRANE_FETCH(SIZE, WORD, sub, kAdd, WORD{0} - operand, before - operand)                        \
  TERRANE_FETCH(SIZE, WORD, and, kAnd, operand, before& operand)                                   \
  TERRANE_FETCH(SIZE, WORD, or, kOr, operand, before | operand)                                    \
  TERRANE_FETCH(SIZE, WORD, xor, kXor, operand, before ^ operand)                                  \
  TERRANE_FETCH(SIZE, WORD, nand, kLoad, operand, ~(before & operand))

extern "C" {

TERRANE_ATOMICS(1, std::uint8_t)
TERRANE_ATOMICS(2, std::uint16_t)
TERRANE_ATOMICS(4, std::uint32_t)
TERRANE_ATOMICS(8, std::uint64_t)

Wide terrane_load_16(const volatile void* from, int) __asm__("__atomic_load_16");
Wide terrane_load_16(const volatile void* from, int) { return load_wide(from); }
void terrane_store_16(volatile void* to, Wide value, int) __asm__("__atomic_store_16");
void terrane_store_16(volatile void* to, Wide value, int) {
  change_wide(to, [=](Wide) { return value; });
}
Wide terrane_exchange_16(volatile void* at, Wide value, int) __asm__("__atomic_exchange_16");
Wide terrane_exchange_16(volatile void* at, Wide value, int) {
  return change_wide(at, [=](Wide) { return value; });
}
bool terrane_compare_exchange_16(volatile void* at, void* expected, Wide desired, int,
                                 int) __asm__("__atomic_compare_exchange_16");
bool terrane_compare_exchange_16(volatile void* at, void* expected, Wide desired, int, int) {
  return compare_exchange_wide(at, expected, desired);
}

void terrane_load(std::size_t bytes, const volatile void* from, void* to,
                  int) __asm__("__atomic_load");
void terrane_load(std::size_t bytes, const volatile void* from, void* to, int) {
  perform_wide(from, [=] { return std::memcpy(to, plain(from), bytes); });
}
void terrane_store(std::size_t bytes, volatile void* to, const void* from,
                   int) __asm__("__atomic_store");
void terrane_store(std::size_t bytes, volatile void* to, const void* from, int) {
  perform_wide(to, [=] { return std::memcpy(plain(to), from, bytes); });
}
void terrane_exchange(std::size_t bytes, volatile void* at, const void* from, void* before,
                      int) __asm__("__atomic_exchange");
void terrane_exchange(std::size_t bytes, volatile void* at, const void* from, void* before, int) {
  perform_wide(at, [=] {
    std::memcpy(before, plain(at), bytes);
    return std::memcpy(plain(at), from, bytes);
  });
}
bool terrane_compare_exchange(std::size_t bytes, volatile void* at, void* expected,
                              const void* desired, int, int) __asm__("__atomic_compare_exchange");
bool terrane_compare_exchange(std::size_t bytes, volatile void* at, void* expected,
                              const void* desired, int, int) {
  return perform_wide(at, [=] {
    bool equal = std::memcmp(plain(at), expected, bytes) == 0;
    std::memcpy(equal ? plain(at) : expected, equal ? desired : plain(at), bytes);
    return equal;
  });
}

}  // extern "C"
#pragma GCC visibility pop
