// Loops, sections and ordered. Static ones are computed by the compiler's code from bounds that it
// asks for; the others take their chunks.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "frontend/omp/kmp/abi.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp::kmp {
namespace {

// The numbers of schedules, without their modifiers: those of ordered loops are by 32 larger.
enum Number : std::int32_t {
  kStaticChunks = 33,
  kStaticBlocks = 34,
  kDynamicChunks = 35,
  kGuidedChunks = 36,
  kRuntimeChunks = 37,
  kTrapezoids = 39,
  kGuidedIterative = 42,
  kGuidedAnalytical = 43,
  kStealing = 44,
  kBlocksOfChunks = 45,  // of a simd loop: blocks whose length is a multiple of the chunk
  kGuidedSimd = 46,
  kRuntimeSimd = 47,
  kFirstOrdered = 64,
  kLastOrdered = 70,
  kTeamChunks = 91,  // distribute: by teams, not by threads
  kTeamBlocks = 92,
};

constexpr std::int32_t kModifiers = 3 << 29, kWithoutMerging = 128, kOrdered = 32;

std::int32_t plain(std::int32_t schedule) { return (schedule & ~kModifiers) % kWithoutMerging; }

constexpr unsigned kMostDimensions = 256;
thread_local std::uint64_t extents[kMostDimensions];
thread_local unsigned dimensions = 0;  // of a doacross loop that has not begun yet
// Of a doacross loop: Doacross::of_caller, from its begin to its end.
struct Dimension {
  std::int64_t first, last, step;
};
struct Dimensions {
  unsigned depth;
  Dimension of[kMostDimensions];  // `depth` of them are there
};
const Dimensions& own_dimensions() {
  return *static_cast<const Dimensions*>(region().doacross.of_caller);
}

template <typename T>
std::uint64_t count_of(T first, T last, std::make_signed_t<T> step) {
  auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last);
  auto by = static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  if (step > 0 && first <= last) return (to - from) / by + 1;
  if (step < 0 && first >= last) return (from - to) / (0 - by) + 1;
  return 0;
}

// The number of the thread or team that takes a part of a static loop, and how many there are.
struct Part {
  std::uint64_t number, size;
};

Part part_of(std::int32_t schedule) {
  if (schedule == kTeamChunks || schedule == kTeamBlocks) {
    const Thread& me = this_thread();
    return {static_cast<std::uint64_t>(me.team_number), static_cast<std::uint64_t>(me.teams)};
  }
  return {region().number, region().size};
}

// A stretch of iterations, counted from 0, and how far the thread's next one is.
struct Stretch {
  std::uint64_t first = 0, count = 0, stride = 0;
  bool is_last = false;
};

Stretch stretch_of(std::int32_t schedule, std::uint64_t count, std::uint64_t chunk, Part part) {
  if (schedule == kStaticChunks || schedule == kTeamChunks) {
    chunk = std::max<std::uint64_t>(chunk, 1);
    return {part.number * chunk, chunk, chunk * part.size,
            (count - 1) / chunk % part.size == part.number};
  }
  if (schedule == kBlocksOfChunks) {
    chunk = std::max<std::uint64_t>(chunk, 1);
    std::uint64_t each = (count + part.size - 1) / part.size;
    each = (each + chunk - 1) / chunk * chunk;
    std::uint64_t first = std::min(part.number * each, count);
    std::uint64_t own = std::min(each, count - first);
    return {first, own, count, own != 0 && first + own == count};
  }
  std::uint64_t each = count / part.size, more = count % part.size;
  std::uint64_t first = part.number * each + std::min(part.number, more);
  std::uint64_t own = each + (part.number < more ? 1 : 0);
  return {first, own, count, own != 0 && first + own == count};
}

template <typename T>
void static_init(std::int32_t schedule, std::int32_t* is_last, T* first, T* last,
                 std::make_signed_t<T>* stride, std::make_signed_t<T> step,
                 std::make_signed_t<T> chunk) {
  using Signed = std::make_signed_t<T>;
  schedule = plain(schedule);
  if (schedule >= kFirstOrdered && schedule <= kLastOrdered) schedule -= kOrdered;
  begin_pending_doacross(
      plan_of_schedule(schedule, chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0));
  std::uint64_t count = count_of(*first, *last, step);
  if (is_last != nullptr) *is_last = 0;
  if (count == 0) {
    *stride = step;
    return;
  }
  Stretch own = stretch_of(schedule, count, chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0,
                           part_of(schedule));
  auto at = [&, begin = *first](std::uint64_t iteration) {
    return static_cast<T>(static_cast<std::uint64_t>(begin) +
                          iteration * static_cast<std::uint64_t>(std::int64_t{step}));
  };
  *stride = static_cast<Signed>(own.stride * static_cast<std::uint64_t>(std::int64_t{step}));
  if (is_last != nullptr && own.is_last) *is_last = 1;
  T begin = at(own.first);
  *last = at(own.first + own.count - 1);
  *first = begin;
}

// The whole of a loop that deals chunks is counted from 0; Work says what 0 stands for.
template <typename T>
void dispatch_init(std::int32_t schedule, T first, T last, std::make_signed_t<T> step,
                   std::make_signed_t<T> chunk) {
  schedule = plain(schedule);
  bool is_ordered = schedule >= kFirstOrdered && schedule <= kLastOrdered;
  Plan plan = plan_of_schedule(is_ordered ? schedule - kOrdered : schedule,
                               chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0);
  plan.is_ordered = is_ordered;
  if (!begin_pending_doacross(plan))
    begin_work(range_of(true, 0, count_of(first, last, step), 1), plan);
  Work& work = region().work;
  work.origin = static_cast<std::uint64_t>(first);
  work.stride = static_cast<std::uint64_t>(std::int64_t{step});
}

template <typename T>
std::int32_t dispatch_next(std::int32_t* is_last, T* first, T* last, std::make_signed_t<T>* step) {
  std::uint64_t from = 0, to = 0;
  if (!next_chunk(from, to)) {
    end_work();
    return 0;
  }
  const Work& work = region().work;
  if (is_last != nullptr) *is_last = to == work.range.count ? 1 : 0;
  *first = static_cast<T>(work.origin + from * work.stride);
  *last = static_cast<T>(work.origin + (to - 1) * work.stride);
  if (step != nullptr) *step = static_cast<std::make_signed_t<T>>(work.stride);
  return 1;
}

std::int32_t next_section() {
  std::uint64_t first = 0, end = 0;
  if (next_chunk(first, end)) return static_cast<std::int32_t>(first);
  end_work();
  return -1;
}

}  // namespace

Plan plan_of_schedule(std::int32_t schedule, std::uint64_t chunk) {
  auto as = [chunk](Schedule kind) {
    return plan_of(static_cast<std::uint32_t>(kind), chunk, false);
  };
  switch (schedule) {
    case kStaticChunks:
      return as(Schedule::kStatic);
    case kDynamicChunks:
    case kStealing:
      return as(Schedule::kDynamic);
    case kGuidedChunks:
    case kTrapezoids:
    case kGuidedIterative:
    case kGuidedAnalytical:
    case kGuidedSimd:
      return as(Schedule::kGuided);
    case kRuntimeChunks:
    case kRuntimeSimd:
      return as(Schedule::kRuntime);
    default:
      return plan_of(static_cast<std::uint32_t>(Schedule::kStatic), 0, false);
  }
}

bool begin_pending_doacross(const Plan& plan) {
  if (dimensions == 0) return false;
  begin_doacross(dimensions, extents, plan);
  dimensions = 0;
  return true;
}

namespace {

// An iteration's numbers, counted from 0.
void count(const std::int64_t* iteration, std::uint64_t* from_zero) {
  const Dimensions& all = own_dimensions();
  for (unsigned i = 0; i < all.depth; ++i) {
    const Dimension& one = all.of[i];
    from_zero[i] = static_cast<std::uint64_t>((iteration[i] - one.first) / one.step);
  }
}

}  // namespace
}  // namespace terrane::frontend::omp::kmp

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

#define TERRANE_KMP_LOOP(SUFFIX, T, SIGNED)                                                       \
  void __kmpc_for_static_init_##SUFFIX(const Ident*, Gtid, std::int32_t schedule,                 \
                                       std::int32_t* is_last, T* first, T* last, SIGNED* stride,  \
                                       SIGNED step, SIGNED chunk) {                               \
    static_init<T>(schedule, is_last, first, last, stride, step, chunk);                          \
  }                                                                                               \
  /* distribute parallel for: the bounds of the team, then of the thread in it. */                \
  void __kmpc_dist_for_static_init_##SUFFIX(                                                      \
      const Ident*, Gtid, std::int32_t schedule, std::int32_t* is_last, T* first, T* last,        \
      T* last_of_team, SIGNED* stride, SIGNED step, SIGNED chunk) {                               \
    std::int32_t team_is_last = 0;                                                                \
    static_init<T>(kTeamBlocks, &team_is_last, first, last, stride, step, 0);                     \
    *last_of_team = *last;                                                                        \
    static_init<T>(schedule, is_last, first, last, stride, step, chunk);                          \
    if (is_last != nullptr && team_is_last == 0) *is_last = 0;                                    \
  }                                                                                               \
  void __kmpc_team_static_init_##SUFFIX(const Ident*, Gtid, std::int32_t* is_last, T* first,      \
                                        T* last, SIGNED* stride, SIGNED step, SIGNED chunk) {     \
    static_init<T>(kTeamChunks, is_last, first, last, stride, step, chunk);                       \
  }                                                                                               \
  void __kmpc_dispatch_init_##SUFFIX(const Ident*, Gtid, std::int32_t schedule, T first, T last,  \
                                     SIGNED step, SIGNED chunk) {                                 \
    dispatch_init<T>(schedule, first, last, step, chunk);                                         \
  }                                                                                               \
  void __kmpc_dist_dispatch_init_##SUFFIX(const Ident*, Gtid, std::int32_t schedule,              \
                                          std::int32_t* is_last, T first, T last, SIGNED step,    \
                                          SIGNED chunk) {                                         \
    SIGNED stride = 0;                                                                            \
    static_init<T>(kTeamBlocks, is_last, &first, &last, &stride, step, 0);                        \
    dispatch_init<T>(schedule, first, last, step, chunk);                                         \
  }                                                                                               \
  std::int32_t __kmpc_dispatch_next_##SUFFIX(const Ident*, Gtid, std::int32_t* is_last, T* first, \
                                             T* last, SIGNED* step) {                             \
    return dispatch_next<T>(is_last, first, last, step);                                          \
  }                                                                                               \
  void __kmpc_dispatch_fini_##SUFFIX(const Ident*, Gtid) {}

extern "C" {

TERRANE_KMP_LOOP(4, std::int32_t, std::int32_t)
TERRANE_KMP_LOOP(4u, std::uint32_t, std::int32_t)
TERRANE_KMP_LOOP(8, std::int64_t, std::int64_t)
TERRANE_KMP_LOOP(8u, std::uint64_t, std::int64_t)

void __kmpc_for_static_fini(const Ident*, Gtid) {
  if (region().doacross.is_active) end_work();
}
void __kmpc_dispatch_deinit(const Ident*, Gtid) {}

std::int32_t __kmpc_sections_init(const Ident*, Gtid, std::int32_t last, void*) {
  begin_work(range_of(true, 0, static_cast<std::uint64_t>(last) + 1, 1),
             plan_of(static_cast<std::uint32_t>(Schedule::kDynamic), 1, false));
  return next_section();
}
std::int32_t __kmpc_next_section(const Ident*, Gtid, std::int32_t) { return next_section(); }
void __kmpc_end_sections(const Ident*, Gtid) { end_work(); }

void __kmpc_ordered(const Ident*, Gtid) { wait_for_turn(); }
void __kmpc_end_ordered(const Ident*, Gtid) {}

void __kmpc_doacross_init(const Ident*, Gtid, std::int32_t depth, const Dimension* of) {
  if (depth <= 0 || static_cast<unsigned>(depth) > kMostDimensions)
    fail_unserved("a doacross loop of more than 256 dimensions");
  dimensions = static_cast<unsigned>(depth);
  auto* all = static_cast<Dimensions*>(
      std::malloc(offsetof(Dimensions, of) + dimensions * sizeof(Dimension)));
  if (all == nullptr) terrane_program_fail("no memory for a doacross loop");
  region().doacross.of_caller = all;
  all->depth = dimensions;
  for (unsigned i = 0; i < dimensions; ++i) {
    all->of[i] = of[i];
    extents[i] = count_of(of[i].first, of[i].last, of[i].step);
  }
}
void __kmpc_doacross_post(const Ident*, Gtid, const std::int64_t* iteration) {
  std::uint64_t from_zero[kMostDimensions];
  count(iteration, from_zero);
  post_doacross(from_zero);
}
// An iteration outside of the loop is none to wait for.
void __kmpc_doacross_wait(const Ident*, Gtid, const std::int64_t* iteration) {
  const Dimensions& all = own_dimensions();
  for (unsigned i = 0; i < all.depth; ++i) {
    const Dimension& one = all.of[i];
    bool is_before = one.step > 0 ? iteration[i] < one.first : iteration[i] > one.first;
    bool is_behind = one.step > 0 ? iteration[i] > one.last : iteration[i] < one.last;
    if (is_before || is_behind) return;
  }
  std::uint64_t from_zero[kMostDimensions];
  count(iteration, from_zero);
  wait_doacross(from_zero);
}
void __kmpc_doacross_fini(const Ident*, Gtid) {
  end_work();
  std::free(std::exchange(region().doacross.of_caller, nullptr));
}

}  // extern "C"
