#include "runtime/shmem/combine.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "base/check.h"

namespace terrane::runtime::shmem {
namespace {

// The type in which T's arithmetic is done: integers wrap around.
template <typename T, bool = std::is_integral_v<T>>
struct Wrapping {
  using Type = T;
};
template <typename T>
struct Wrapping<T, true> {
  using Type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};

// left becomes left op right: numbers, or vectors of them.
template <ReduceOp op, typename T>
inline __attribute__((always_inline)) void apply(T& left, const T& right) {
  using Wide = typename Wrapping<T>::Type;
  if constexpr (op == ReduceOp::kAnd) left = static_cast<T>(left & right);
  if constexpr (op == ReduceOp::kOr) left = static_cast<T>(left | right);
  if constexpr (op == ReduceOp::kXor) left = static_cast<T>(left ^ right);
  if constexpr (op == ReduceOp::kMax) left = left < right ? right : left;
  if constexpr (op == ReduceOp::kMin) left = right < left ? right : left;
  if constexpr (op == ReduceOp::kSum) left = static_cast<T>(Wide(left) + Wide(right));
  if constexpr (op == ReduceOp::kProd) left = static_cast<T>(Wide(left) * Wide(right));
}

// The members' arrays come from far caches. All have the same offset within a page, which defeats
// the processor's own prefetching.
constexpr std::uint64_t kAheadBytes = 2048;

// Half a cache line of elements, as a vector register and as unaligned memory. Integers wrap
// around.
template <ReduceOp op, typename T>
struct Vectors {
  static constexpr bool kWraps =
      std::is_integral_v<T> && (op == ReduceOp::kSum || op == ReduceOp::kProd);
  using Element =
      typename std::conditional_t<kWraps, std::make_unsigned<T>, std::type_identity<T>>::type;
  typedef Element Half __attribute__((vector_size(32)));
  struct __attribute__((packed, may_alias)) Stored {
    Half half;
  };
};

// Combines whole cache lines; returns the number of elements in these.
template <ReduceOp op, typename T>
inline __attribute__((always_inline)) std::uint64_t combine_lines(T* into, const T* a, const T* b,
                                                                  std::uint64_t count) {
  using Half = typename Vectors<op, T>::Half;
  using Stored = typename Vectors<op, T>::Stored;
  constexpr std::uint64_t kElements = 2 * sizeof(Half) / sizeof(T);
  std::uint64_t i = 0;
  for (; i + kElements <= count; i += kElements) {
    __builtin_prefetch(reinterpret_cast<const char*>(b + i) + kAheadBytes);
    auto* out = reinterpret_cast<Stored*>(into + i);
    auto* left = reinterpret_cast<const Stored*>(a + i);
    auto* right = reinterpret_cast<const Stored*>(b + i);
    Half first = left[0].half, second = left[1].half;
    apply<op, Half>(first, Half(right[0].half));
    apply<op, Half>(second, Half(right[1].half));
    out[0].half = first;
    out[1].half = second;
  }
  return i;
}

template <ReduceOp op, typename T>
inline __attribute__((always_inline)) void loop(void* out, const void* left, const void* right,
                                                std::uint64_t count) {
  T* into = static_cast<T*>(out);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  if constexpr (alignof(T) <= alignof(std::uint64_t)) {
    std::uint64_t i = 0;
    if constexpr (std::is_arithmetic_v<T>) i = combine_lines<op>(into, a, b, count);
    for (; i < count; ++i) {
      T left = a[i];
      apply<op>(left, b[i]);
      into[i] = left;
    }
  } else {  // another member's cell: aligned to 8 bytes only
    for (std::uint64_t i = 0; i < count; ++i) {
      T pair[2];
      std::memcpy(&pair[0], a + i, sizeof(T));
      std::memcpy(&pair[1], b + i, sizeof(T));
      apply<op>(pair[0], pair[1]);
      std::memcpy(static_cast<void*>(into + i), &pair[0], sizeof(T));
    }
  }
}

template <ReduceOp op, typename T>
void combine_plainly(void* out, const void* left, const void* right, std::uint64_t count) {
  loop<op, T>(out, left, right, count);
}

#if defined(__x86_64__)
template <ReduceOp op, typename T>
__attribute__((target("avx2"))) void combine_avx2(void* out, const void* left, const void* right,
                                                  std::uint64_t count) {
  loop<op, T>(out, left, right, count);
}
const bool has_avx2 = __builtin_cpu_supports("avx2");
#endif

template <ReduceOp op, typename T>
const Combine& of() {
#if defined(__x86_64__)
  static const Combine wide = {sizeof(T), combine_avx2<op, T>};
  if (has_avx2) return wide;
#endif
  static const Combine plain = {sizeof(T), combine_plainly<op, T>};
  return plain;
}

template <typename T>
const Combine& of_type(ReduceOp op) {
  if constexpr (std::is_integral_v<T>) {
    if (op == ReduceOp::kAnd) return of<ReduceOp::kAnd, T>();
    if (op == ReduceOp::kOr) return of<ReduceOp::kOr, T>();
    if (op == ReduceOp::kXor) return of<ReduceOp::kXor, T>();
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (op == ReduceOp::kMax) return of<ReduceOp::kMax, T>();
    if (op == ReduceOp::kMin) return of<ReduceOp::kMin, T>();
  }
  if (op == ReduceOp::kSum) return of<ReduceOp::kSum, T>();
  TERRANE_CHECK(op == ReduceOp::kProd, "an operation that these elements have");
  return of<ReduceOp::kProd, T>();
}

}  // namespace

const Combine& combine_for(ReduceOp op, ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return of_type<std::int8_t>(op);
    case ElementType::kInt16:
      return of_type<std::int16_t>(op);
    case ElementType::kInt32:
      return of_type<std::int32_t>(op);
    case ElementType::kInt64:
      return of_type<std::int64_t>(op);
    case ElementType::kUint8:
      return of_type<std::uint8_t>(op);
    case ElementType::kUint16:
      return of_type<std::uint16_t>(op);
    case ElementType::kUint32:
      return of_type<std::uint32_t>(op);
    case ElementType::kUint64:
      return of_type<std::uint64_t>(op);
    case ElementType::kFloat:
      return of_type<float>(op);
    case ElementType::kDouble:
      return of_type<double>(op);
    case ElementType::kLongDouble:
      return of_type<long double>(op);
    case ElementType::kComplexFloat:
      return of_type<std::complex<float>>(op);
    case ElementType::kComplexDouble:
      return of_type<std::complex<double>>(op);
  }
  __builtin_unreachable();
}

}  // namespace terrane::runtime::shmem
