#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace terrane::runtime::shmem {

enum class ReduceOp : std::uint8_t { kAnd, kOr, kXor, kMax, kMin, kSum, kProd };
enum class ElementType : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplexFloat,
  kComplexDouble,
};

constexpr const char* name_of(ElementType type) {
  constexpr const char* kNames[] = {
      "int8",   "int16", "int32",  "int64",       "uint8",         "uint16",        "uint32",
      "uint64", "float", "double", "long double", "complex float", "complex double"};
  return kNames[static_cast<std::size_t>(type)];
}

// An operation on the elements of arrays. The arrays do not overlap, but `out` may be one of the
// others.
struct Combine {
  std::uint64_t element_bytes;
  // out[i] = left[i] op right[i]
  void (*combine)(void* out, const void* left, const void* right, std::uint64_t count);
};

// The fastest loop for this processor. Bitwise operations exist for integers, kMax and kMin not for
// complex numbers; other combinations fail an assertion.
const Combine& combine_for(ReduceOp op, ElementType type);

// The ElementType of a C type.
template <typename T>
constexpr ElementType element_type() {
  if constexpr (std::is_same_v<T, float>) return ElementType::kFloat;
  if constexpr (std::is_same_v<T, double>) return ElementType::kDouble;
  if constexpr (std::is_same_v<T, long double>) return ElementType::kLongDouble;
  if constexpr (std::is_integral_v<T>) {
    constexpr std::uint8_t size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return ElementType{static_cast<std::uint8_t>(size + (std::is_signed_v<T> ? 0 : 4))};
  }
  // Complex numbers are different types in C and C++, with the same layout.
  if constexpr (!std::is_arithmetic_v<T>) {
    return sizeof(T) == sizeof(std::complex<float>) ? ElementType::kComplexFloat
                                                    : ElementType::kComplexDouble;
  }
}

}  // namespace terrane::runtime::shmem
