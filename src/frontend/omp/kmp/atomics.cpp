// Atomic updates that Intel's compilers and libraries leave to calls, for every type and operation:
// __kmpc_atomic_TYPE_OPERATION. Words of up to 8 bytes are changed as those of __atomic functions
// are, so that instructions in the program may change them, too; larger objects under the lock of
// GOMP_atomic_start.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "frontend/omp/kmp/abi.h"

using namespace terrane::frontend::omp::kmp;

// The functions of the interface for atomics in memory, which the threads front-end serves. The
// compiler has these names for itself.
#define TERRANE_WORD(SIZE, WORD)                                                             \
  extern "C" WORD terrane_word_load_##SIZE(const volatile void*,                             \
                                           int) __asm__("__atomic_load_" #SIZE);             \
  extern "C" void terrane_word_store_##SIZE(volatile void*, WORD,                            \
                                            int) __asm__("__atomic_store_" #SIZE);           \
  extern "C" bool terrane_word_swap_##SIZE(volatile void*, void*, WORD, int,                 \
                                           int) __asm__("__atomic_compare_exchange_" #SIZE); \
  extern "C" WORD terrane_word_add_##SIZE(volatile void*, WORD,                              \
                                          int) __asm__("__atomic_fetch_add_" #SIZE);         \
  namespace {                                                                                \
  template <>                                                                                \
  struct Word<SIZE> {                                                                        \
    using Type = WORD;                                                                       \
    static constexpr auto load = terrane_word_load_##SIZE;                                   \
    static constexpr auto store = terrane_word_store_##SIZE;                                 \
    static constexpr auto compare_swap = terrane_word_swap_##SIZE;                           \
    static constexpr auto add = terrane_word_add_##SIZE;                                     \
  };                                                                                         \
  }

namespace {

template <std::size_t size>
struct Word;

}  // namespace

TERRANE_WORD(1, std::uint8_t)
TERRANE_WORD(2, std::uint16_t)
TERRANE_WORD(4, std::uint32_t)
TERRANE_WORD(8, std::uint64_t)

extern "C" {
void GOMP_atomic_start();
void GOMP_atomic_end();
}

namespace {

constexpr int kOrder = __ATOMIC_RELAXED;  // a clause with another order comes with flushes

using Complex4 = _Complex float;
using Complex8 = _Complex double;
using Complex10 = _Complex long double;
using Float10 = long double;
using Float16 = __float128;
using Complex16 = _Complex float __attribute__((mode(TC)));

template <typename T>
struct Change {
  T before, after;
};

template <typename T, typename Result>
Change<T> change_in_section(T* at, Result result) {
  GOMP_atomic_start();
  Change<T> all{*at, {}};
  all.after = result(all.before);
  *at = all.after;
  GOMP_atomic_end();
  return all;
}

// result(before): what the object is afterwards.
template <typename T, typename Result>
Change<T> change(T* at, Result result) {
  if constexpr (sizeof(T) > 8) {
    return change_in_section(at, result);
  } else {
    using Own = Word<sizeof(T)>;
    typename Own::Type found = Own::load(at, kOrder);
    for (;;) {
      Change<T> all;
      std::memcpy(&all.before, &found, sizeof found);
      all.after = result(all.before);
      typename Own::Type after;
      std::memcpy(&after, &all.after, sizeof after);
      if (Own::compare_swap(at, &found, after, kOrder, kOrder)) return all;
    }
  }
}

template <typename T>
T value_of(T* at) {
  if constexpr (sizeof(T) > 8) {
    return change_in_section(at, [](T before) { return before; }).before;
  } else {
    auto word = Word<sizeof(T)>::load(at, kOrder);
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
}

template <typename T>
void set(T* at, T value) {
  if constexpr (sizeof(T) > 8) {
    change_in_section(at, [=](T) { return value; });
  } else {
    typename Word<sizeof(T)>::Type word;
    std::memcpy(&word, &value, sizeof word);
    Word<sizeof(T)>::store(at, word, kOrder);
  }
}

// At once in the home of the word.
template <typename T>
void add(T* at, T more) {
  Word<sizeof(T)>::add(at, static_cast<typename Word<sizeof(T)>::Type>(more), kOrder);
}

// A shift of bits: what would be undefined is 0.
template <typename T>
T shifted_left(T value, T by) {
  using Bits = std::make_unsigned_t<T>;
  auto places = static_cast<std::uint64_t>(by);
  return places < 8 * sizeof(T) ? static_cast<T>(static_cast<Bits>(value) << places) : T{0};
}
template <typename T>
T shifted_right(T value, T by) {
  auto places = static_cast<std::uint64_t>(by);
  return places < 8 * sizeof(T) ? static_cast<T>(value >> places)
                                : static_cast<T>(value < 0 ? -1 : 0);
}

// result(after, before, operand) is the program's.
template <std::size_t size>
void change_by(void* at, void* operand, void (*result)(void*, void*, void*)) {
  struct Object {
    std::byte bytes[size];
  };
  change(static_cast<Object*>(at), [=](Object before) {
    Object after;
    result(&after, &before, operand);
    return after;
  });
}

}  // namespace

#pragma GCC visibility push(default)

// x: the object; v: the operand.
#define UPDATE(NAME, TYPE, OPERAND, RESULT)                            \
  void __kmpc_atomic_##NAME(const Ident*, Gtid, TYPE* at, OPERAND v) { \
    change(at, [=](TYPE x) { return static_cast<TYPE>(RESULT); });     \
  }
// after: whether what the object is afterwards is wanted, or what it was.
#define CAPTURE(NAME, TYPE, OPERAND, RESULT)                                      \
  TYPE __kmpc_atomic_##NAME(const Ident*, Gtid, TYPE* at, OPERAND v, int after) { \
    auto all = change(at, [=](TYPE x) { return static_cast<TYPE>(RESULT); });     \
    return after != 0 ? all.after : all.before;                                   \
  }
#define CAPTURE_INTO(NAME, TYPE, OPERAND, RESULT)                                             \
  void __kmpc_atomic_##NAME(const Ident*, Gtid, TYPE* at, OPERAND v, TYPE* into, int after) { \
    auto all = change(at, [=](TYPE x) { return static_cast<TYPE>(RESULT); });                 \
    *into = after != 0 ? all.after : all.before;                                              \
  }

#define BOTH(TYPE_NAME, NAME, TYPE, RESULT)      \
  UPDATE(TYPE_NAME##_##NAME, TYPE, TYPE, RESULT) \
  CAPTURE(TYPE_NAME##_##NAME##_cpt, TYPE, TYPE, RESULT)
#define BOTH_INTO(TYPE_NAME, NAME, SUFFIX, TYPE, RESULT) \
  UPDATE(TYPE_NAME##_##NAME##SUFFIX, TYPE, TYPE, RESULT) \
  CAPTURE_INTO(TYPE_NAME##_##NAME##_cpt##SUFFIX, TYPE, TYPE, RESULT)
// The operand first.
#define REVERSED(TYPE_NAME, NAME, TYPE, RESULT)        \
  UPDATE(TYPE_NAME##_##NAME##_rev, TYPE, TYPE, RESULT) \
  CAPTURE(TYPE_NAME##_##NAME##_cpt_rev, TYPE, TYPE, RESULT)

#define READ_AND_WRITE(TYPE_NAME, TYPE)                                                      \
  TYPE __kmpc_atomic_##TYPE_NAME##_rd(const Ident*, Gtid, TYPE* at) { return value_of(at); } \
  void __kmpc_atomic_##TYPE_NAME##_wr(const Ident*, Gtid, TYPE* at, TYPE v) { set(at, v); }
#define SWAP(TYPE_NAME, TYPE)                                                  \
  TYPE __kmpc_atomic_##TYPE_NAME##_swp(const Ident*, Gtid, TYPE* at, TYPE v) { \
    return change(at, [=](TYPE) { return v; }).before;                         \
  }

#define ARITHMETIC(TYPE_NAME, TYPE)     \
  BOTH(TYPE_NAME, mul, TYPE, x* v)      \
  BOTH(TYPE_NAME, div, TYPE, x / v)     \
  REVERSED(TYPE_NAME, sub, TYPE, v - x) \
  REVERSED(TYPE_NAME, div, TYPE, v / x)
#define SUMS(TYPE_NAME, TYPE)       \
  BOTH(TYPE_NAME, add, TYPE, x + v) \
  BOTH(TYPE_NAME, sub, TYPE, x - v)
#define ORDER(TYPE_NAME, TYPE)              \
  BOTH(TYPE_NAME, max, TYPE, x < v ? v : x) \
  BOTH(TYPE_NAME, min, TYPE, v < x ? v : x)

#define INTEGER(TYPE_NAME, TYPE, UNSIGNED)                                                      \
  void __kmpc_atomic_##TYPE_NAME##_add(const Ident*, Gtid, TYPE* at, TYPE v) { add(at, v); }    \
  CAPTURE(TYPE_NAME##_add_cpt, TYPE, TYPE, static_cast<UNSIGNED>(x) + static_cast<UNSIGNED>(v)) \
  void __kmpc_atomic_##TYPE_NAME##_sub(const Ident*, Gtid, TYPE* at, TYPE v) {                  \
    add(at, static_cast<TYPE>(UNSIGNED{0} - static_cast<UNSIGNED>(v)));                         \
  }                                                                                             \
  CAPTURE(TYPE_NAME##_sub_cpt, TYPE, TYPE, static_cast<UNSIGNED>(x) - static_cast<UNSIGNED>(v)) \
  ARITHMETIC(TYPE_NAME, TYPE)                                                                   \
  ORDER(TYPE_NAME, TYPE)                                                                        \
  READ_AND_WRITE(TYPE_NAME, TYPE)                                                               \
  SWAP(TYPE_NAME, TYPE)                                                                         \
  BOTH(TYPE_NAME, andb, TYPE, x& v)                                                             \
  BOTH(TYPE_NAME, orb, TYPE, x | v)                                                             \
  BOTH(TYPE_NAME, xor, TYPE, x ^ v)                                                             \
  BOTH(TYPE_NAME, andl, TYPE, x&& v)                                                            \
  BOTH(TYPE_NAME, orl, TYPE, x || v)                                                            \
  BOTH(TYPE_NAME, eqv, TYPE, ~(x ^ v))                                                          \
  BOTH(TYPE_NAME, neqv, TYPE, x ^ v)                                                            \
  BOTH(TYPE_NAME, shl, TYPE, shifted_left(x, v))                                                \
  BOTH(TYPE_NAME, shr, TYPE, shifted_right(x, v))                                               \
  REVERSED(TYPE_NAME, shl, TYPE, shifted_left(v, x))                                            \
  REVERSED(TYPE_NAME, shr, TYPE, shifted_right(v, x))                                           \
  BOTH(TYPE_NAME##u, div, UNSIGNED, x / v)                                                      \
  REVERSED(TYPE_NAME##u, div, UNSIGNED, v / x)                                                  \
  BOTH(TYPE_NAME##u, shr, UNSIGNED, shifted_right(x, v))                                        \
  REVERSED(TYPE_NAME##u, shr, UNSIGNED, shifted_right(v, x))                                    \
  UPDATE(TYPE_NAME##_mul_float8, TYPE, double, x* v)                                            \
  UPDATE(TYPE_NAME##_div_float8, TYPE, double, x / v)

#define REAL(TYPE_NAME, TYPE)     \
  SUMS(TYPE_NAME, TYPE)           \
  ARITHMETIC(TYPE_NAME, TYPE)     \
  ORDER(TYPE_NAME, TYPE)          \
  READ_AND_WRITE(TYPE_NAME, TYPE) \
  SWAP(TYPE_NAME, TYPE)

#define COMPLEX(TYPE_NAME, TYPE)  \
  SUMS(TYPE_NAME, TYPE)           \
  ARITHMETIC(TYPE_NAME, TYPE)     \
  READ_AND_WRITE(TYPE_NAME, TYPE) \
  SWAP(TYPE_NAME, TYPE)

// With an operand of twice its size.
#define WITH_DOUBLE(TYPE_NAME, TYPE, OPERAND_NAME, OPERAND)    \
  UPDATE(TYPE_NAME##_add_##OPERAND_NAME, TYPE, OPERAND, x + v) \
  UPDATE(TYPE_NAME##_sub_##OPERAND_NAME, TYPE, OPERAND, x - v) \
  UPDATE(TYPE_NAME##_mul_##OPERAND_NAME, TYPE, OPERAND, x* v)  \
  UPDATE(TYPE_NAME##_div_##OPERAND_NAME, TYPE, OPERAND, x / v)

// With an operand of 16 bytes.
#define WIDE_BOTH(TYPE_NAME, NAME, SUFFIX, TYPE, RESULT)         \
  UPDATE(TYPE_NAME##_##NAME##SUFFIX##_fp, TYPE, Float16, RESULT) \
  CAPTURE(TYPE_NAME##_##NAME##_cpt##SUFFIX##_fp, TYPE, Float16, RESULT)
#define WIDE(TYPE_NAME, TYPE)                  \
  WIDE_BOTH(TYPE_NAME, add, , TYPE, x + v)     \
  WIDE_BOTH(TYPE_NAME, sub, , TYPE, x - v)     \
  WIDE_BOTH(TYPE_NAME, mul, , TYPE, x* v)      \
  WIDE_BOTH(TYPE_NAME, div, , TYPE, x / v)     \
  WIDE_BOTH(TYPE_NAME, sub, _rev, TYPE, v - x) \
  WIDE_BOTH(TYPE_NAME, div, _rev, TYPE, v / x)

// Any change of an object of so many bytes, by a function.
#define BY_FUNCTION(SIZE)                                          \
  void __kmpc_atomic_##SIZE(const Ident*, Gtid, void* at, void* v, \
                            void (*result)(void*, void*, void*)) { \
    change_by<SIZE>(at, v, result);                                \
  }
#define INTEGERS_WITH(SIZE)                                                    \
  WIDE(fixed##SIZE, std::make_signed_t<Word<SIZE>::Type>)                      \
  WIDE(fixed##SIZE##u, Word<SIZE>::Type)                                       \
  INTEGER(fixed##SIZE, std::make_signed_t<Word<SIZE>::Type>, Word<SIZE>::Type) \
  COMPARE(SIZE, std::make_signed_t<Word<SIZE>::Type>)                          \
  BY_FUNCTION(SIZE)
// Where the object is `wanted` it becomes `v`.
#define COMPARE(SIZE, TYPE)                                                                   \
  bool __kmpc_atomic_bool_##SIZE##_cas(const Ident*, Gtid, TYPE* at, TYPE wanted, TYPE v) {   \
    return change(at, [=](TYPE x) { return x == wanted ? v : x; }).before == wanted;          \
  }                                                                                           \
  bool __kmpc_atomic_bool_##SIZE##_cas_cpt(const Ident*, Gtid, TYPE* at, TYPE wanted, TYPE v, \
                                           TYPE* other) {                                     \
    TYPE before = change(at, [=](TYPE x) { return x == wanted ? v : x; }).before;             \
    if (before != wanted) *other = before;                                                    \
    return before == wanted;                                                                  \
  }                                                                                           \
  TYPE __kmpc_atomic_val_##SIZE##_cas(const Ident*, Gtid, TYPE* at, TYPE wanted, TYPE v) {    \
    return change(at, [=](TYPE x) { return x == wanted ? v : x; }).before;                    \
  }                                                                                           \
  TYPE __kmpc_atomic_val_##SIZE##_cas_cpt(const Ident*, Gtid, TYPE* at, TYPE wanted, TYPE v,  \
                                          TYPE* after) {                                      \
    auto all = change(at, [=](TYPE x) { return x == wanted ? v : x; });                       \
    *after = all.after;                                                                       \
    return all.before;                                                                        \
  }

extern "C" {

INTEGERS_WITH(1)
INTEGERS_WITH(2)
INTEGERS_WITH(4)
INTEGERS_WITH(8)
BY_FUNCTION(10)
BY_FUNCTION(16)
BY_FUNCTION(20)
BY_FUNCTION(32)

REAL(float4, float)
REAL(float8, double)
REAL(float10, Float10)
REAL(float16, Float16)
WIDE(float4, float)
WIDE(float8, double)
WIDE(float10, Float10)
WITH_DOUBLE(float4, float, float8, double)

COMPLEX(cmplx8, Complex8)
COMPLEX(cmplx10, Complex10)
COMPLEX(cmplx16, Complex16)
// What is captured of this type goes to a place.
READ_AND_WRITE(cmplx4, Complex4)
BOTH_INTO(cmplx4, add, , Complex4, x + v)
BOTH_INTO(cmplx4, sub, , Complex4, x - v)
BOTH_INTO(cmplx4, mul, , Complex4, x* v)
BOTH_INTO(cmplx4, div, , Complex4, x / v)
BOTH_INTO(cmplx4, sub, _rev, Complex4, v - x)
BOTH_INTO(cmplx4, div, _rev, Complex4, v / x)
void __kmpc_atomic_cmplx4_swp(const Ident*, Gtid, Complex4* at, Complex4 v, Complex4* into) {
  *into = change(at, [=](Complex4) { return v; }).before;
}
WITH_DOUBLE(cmplx4, Complex4, cmplx8, Complex8)

void __kmpc_atomic_start() { GOMP_atomic_start(); }
void __kmpc_atomic_end() { GOMP_atomic_end(); }

}  // extern "C"

#pragma GCC visibility pop
