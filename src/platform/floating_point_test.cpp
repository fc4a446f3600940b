#include "platform/floating_point.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

namespace terrane::platform {
namespace {

// What a thread that applies the caller's environment finds.
template <typename Look>
void in_heir(Look look) {
  FloatingPoint given = floating_point::capture();
  std::thread([&] {
    std::fesetenv(FE_DFL_ENV);
    floating_point::apply(given);
    look();
  }).join();
}

TEST(FloatingPointTest, RoundingIsInherited) {
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
    int found = -1;
    in_heir([&] { found = std::fegetround(); });
    EXPECT_EQ(found, mode);
  }
  std::fesetround(FE_TONEAREST);
}

TEST(FloatingPointTest, RoundingOfEveryUnitIsInherited) {
  std::fesetround(FE_DOWNWARD);
  volatile long double one = 1, three = 3;
  long double own = one / three, theirs = 0;
  in_heir([&] { theirs = one / three; });
  EXPECT_EQ(own, theirs);
  std::fesetround(FE_TONEAREST);
  EXPECT_NE(own, one / three);
}

TEST(FloatingPointTest, FlagsAreInherited) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(FE_OVERFLOW | FE_INEXACT);
  int found = 0;
  in_heir([&] { found = std::fetestexcept(FE_ALL_EXCEPT); });
  EXPECT_EQ(found, FE_OVERFLOW | FE_INEXACT);
  std::feclearexcept(FE_ALL_EXCEPT);
}

TEST(FloatingPointTest, ControlAloneKeepsTheFlags) {
  std::feclearexcept(FE_ALL_EXCEPT);
  std::fesetround(FE_DOWNWARD);
  FloatingPoint given = floating_point::capture();
  std::fesetround(FE_TONEAREST);
  std::feraiseexcept(FE_DIVBYZERO);
  floating_point::apply_control(given);
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
  EXPECT_EQ(std::fetestexcept(FE_ALL_EXCEPT), FE_DIVBYZERO);
  std::fesetenv(FE_DFL_ENV);
}

#if defined(__x86_64__)
TEST(FloatingPointTest, DenormalsThatAreZerosAreInherited) {
  constexpr unsigned kFlushAndDenormalsAreZero = 0x8040;
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | kFlushAndDenormalsAreZero);
  unsigned found = 0;
  in_heir([&] { found = __builtin_ia32_stmxcsr(); });
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(found & kFlushAndDenormalsAreZero, kFlushAndDenormalsAreZero);
}
#endif

}  // namespace
}  // namespace terrane::platform
