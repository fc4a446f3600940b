#pragma once

#include <cstdint>

// The floating-point environment of the calling thread, which a new thread inherits from the one
// that creates it, and the threads of a team from its master. What the processor keeps of it: the
// rounding mode, denormals that are taken or given as zeros, the precision of x87, which exceptions
// trap, and the flags of those that have occurred.
namespace terrane::platform {

// Plain data: it travels between nodes of one architecture. Two are equal if their words are.
struct FloatingPoint {
  std::uint64_t control = 0;  // rounding, denormals, precision, traps
  std::uint64_t flags = 0;    // of exceptions that have occurred
};

namespace floating_point {

#if defined(__x86_64__)

inline constexpr std::uint32_t kFlagsOfMxcsr = 0x3f;

// Of the calling thread. Async-signal-safe, some nanoseconds.
inline FloatingPoint capture() noexcept {
  std::uint32_t mxcsr = 0;
  std::uint16_t x87_control = 0, x87_status = 0;
  asm volatile("stmxcsr %0" : "=m"(mxcsr));
  asm volatile("fnstcw %0" : "=m"(x87_control));
  asm volatile("fnstsw %0" : "=m"(x87_status));
  return {(mxcsr & ~kFlagsOfMxcsr) | std::uint64_t{x87_control} << 32,
          (mxcsr | x87_status) & kFlagsOfMxcsr};
}

// For the calling thread from now on. Flags of x87 become those of SSE: the C library reads both.
inline void apply(const FloatingPoint& wanted) noexcept {
  auto mxcsr = static_cast<std::uint32_t>(wanted.control | wanted.flags);
  auto x87_control = static_cast<std::uint16_t>(wanted.control >> 32);
  asm volatile("fnclex\n\tfldcw %0" : : "m"(x87_control) : "memory");
  asm volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
}

#elif defined(__aarch64__)

inline FloatingPoint capture() noexcept {
  FloatingPoint now;
  asm volatile("mrs %0, fpcr" : "=r"(now.control));
  asm volatile("mrs %0, fpsr" : "=r"(now.flags));
  return now;
}

inline void apply(const FloatingPoint& wanted) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(wanted.control) : "memory");
  asm volatile("msr fpsr, %0" : : "r"(wanted.flags) : "memory");
}

#else
#error "no floating-point environment is known for this processor"
#endif

// The same, but the calling thread keeps its own flags.
inline void apply_control(const FloatingPoint& wanted) noexcept {
  FloatingPoint own = capture();
  if (own.control != wanted.control) apply({wanted.control, own.flags});
}

}  // namespace floating_point
}  // namespace terrane::platform
