#pragma once

namespace terrane::base {

// Prints the broken invariant with its place and ends the process; safe in a signal handler.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const char* why) noexcept;

}  // namespace terrane::base

// An invariant of Terrane itself, checked in every build. Never for bad input.
#define TERRANE_CHECK(condition, why)                \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::terrane::base::check_failed(#condition, __FILE__, __LINE__, why))
