#pragma once

#include <cstdint>

#include "frontend/omp/work.h"

// What the calls of loops over signed and over unsigned numbers share.
namespace terrane::frontend::omp {

inline constexpr auto kRuntime = static_cast<std::uint32_t>(Schedule::kRuntime);
inline constexpr auto kStatic = static_cast<std::uint32_t>(Schedule::kStatic);
inline constexpr auto kDynamic = static_cast<std::uint32_t>(Schedule::kDynamic);
inline constexpr auto kGuided = static_cast<std::uint32_t>(Schedule::kGuided);

// The next iterations of the calling thread. False: there are no more.
template <typename Number>
bool give(Number* first, Number* end) {
  std::uint64_t from = 0, to = 0;
  if (!next_chunk(from, to)) return false;
  *first = static_cast<Number>(from);
  *end = static_cast<Number>(to);
  return true;
}

// Begins the loop, and gives the first ones.
template <typename Number>
bool start(const Range& range, const Plan& plan, Number* first, Number* end) {
  begin_work(range, plan);
  return give(first, end);
}

}  // namespace terrane::frontend::omp
