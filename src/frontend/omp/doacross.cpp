// Loops whose iterations wait for others: ordered(n) with depend(sink) and depend(source). Each
// thread of the team has a counter, which says how many of its iterations are done. All
// threads deal the iterations in the same way, so a thread knows whose counter an iteration is in.
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>

#include "frontend/omp/reductions.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

constexpr std::uint32_t kMostDimensions = 256;

// Where an iteration of the outer loop is.
struct Place {
  std::uint32_t thread;
  std::uint64_t index;  // among the iterations of its thread
};

Place place_of(const Work& work, std::uint64_t iteration) {
  std::uint32_t size = region().size;
  std::uint64_t chunk = work.plan.chunk;
  if (chunk != 0) {
    std::uint64_t number = iteration / chunk;
    return {static_cast<std::uint32_t>(number % size), number / size * chunk + iteration % chunk};
  }
  std::uint64_t each = work.range.count / size, more = work.range.count % size;
  std::uint64_t in_larger = more * (each + 1);
  if (iteration < in_larger)
    return {static_cast<std::uint32_t>(iteration / (each + 1)), iteration % (each + 1)};
  iteration -= in_larger;
  return {static_cast<std::uint32_t>(more + iteration / each), iteration % each};
}

// An upper limit of a thread's iterations, the same for all threads.
std::uint64_t most_iterations(const Work& work) {
  std::uint64_t count = work.range.count, size = region().size, chunk = work.plan.chunk;
  if (chunk == 0) return (count + size - 1) / size;
  std::uint64_t chunks = (count + chunk - 1) / chunk;
  return (chunks + size - 1) / size * chunk;
}

// From the numbers of an iteration: how many are done of its thread's when it is.
std::uint64_t done_with(const Doacross& loop, std::uint64_t index, const std::uint64_t* inner) {
  std::uint64_t position = index;
  for (std::uint32_t i = 1; i < loop.dimensions; ++i)
    position = position * loop.extents[i] + inner[i - 1];
  return position + 1;
}

void add_to_own(Doacross& loop, std::uint64_t done) {
  if (done <= loop.done) return;
  Region& own = region();
  own.team->add_done(own, done - loop.done);
  loop.done = done;
}

}  // namespace

// Threads take iterations in a fixed order, whatever the schedule says: an iteration's thread is
// known without asking.
void begin_doacross(unsigned dimensions, const std::uint64_t* extents, Plan plan) {
  if (dimensions > kMostDimensions)
    terrane_program_fail("a doacross loop has more than 256 dimensions: ordered(n) with n <= 256");
  if (plan.schedule != Schedule::kStatic && plan.chunk == 0) plan.chunk = 1;
  plan.schedule = Schedule::kStatic;
  begin_work(range_of(true, 0, extents[0], 1), plan);
  Region& own = region();
  Doacross& loop = own.doacross;
  loop.is_active = own.size > 1;
  loop.dimensions = dimensions;
  loop.inner = 1;
  loop.done = 0;
  for (unsigned i = 1; i < dimensions; ++i) loop.inner *= extents[i];
  if (!loop.is_active) return;
  loop.extents = static_cast<std::uint64_t*>(std::malloc(dimensions * sizeof(std::uint64_t)));
  if (loop.extents == nullptr) terrane_program_fail("no memory for a doacross loop");
  std::copy_n(extents, dimensions, loop.extents);
  loop.base = own.team->add_done(own, 0);
}

void post_doacross(const std::uint64_t* iteration) {
  Region& own = region();
  if (!own.doacross.is_active) return;
  add_to_own(own.doacross,
             done_with(own.doacross, place_of(own.work, iteration[0]).index, iteration + 1));
}

void wait_doacross(const std::uint64_t* iteration) {
  Region& own = region();
  const Doacross& loop = own.doacross;
  if (!loop.is_active) return;
  Place place = place_of(own.work, iteration[0]);
  if (place.thread == own.number) return;
  std::uint64_t done = done_with(loop, place.index, iteration + 1);
  own.team->await_done(own, place.thread, loop.base + done);
}

namespace {

// begin_doacross() for the calls of the ABI, with the first iterations of the thread.
template <typename Number>
bool start(unsigned dimensions, const Number* extents, const Plan& plan, Number* first,
           Number* end) {
  std::uint64_t copies[kMostDimensions];
  for (unsigned i = 0; i < dimensions && i < kMostDimensions; ++i)
    copies[i] = static_cast<std::uint64_t>(extents[i]);
  begin_doacross(dimensions, copies, plan);
  if (first == nullptr) return true;
  std::uint64_t from = 0, to = 0;
  if (!next_chunk(from, to)) return false;
  *first = static_cast<Number>(from);
  *end = static_cast<Number>(to);
  return true;
}

template <typename Number>
bool start_sharing(unsigned dimensions, const Number* extents, const Plan& plan, Number* first,
                   Number* end, std::uintptr_t* reductions, void** memory) {
  start<Number>(dimensions, extents, plan, nullptr, nullptr);
  share_memory_of_work(reductions, memory);
  if (first == nullptr) return true;
  std::uint64_t from = 0, to = 0;
  if (!next_chunk(from, to)) return false;
  *first = static_cast<Number>(from);
  *end = static_cast<Number>(to);
  return true;
}

template <typename Number>
Plan plan(Schedule schedule, Number chunk) {
  return plan_of(static_cast<std::uint32_t>(schedule), static_cast<std::uint64_t>(chunk), false);
}

// rest: the other numbers of the iteration, where the loop has more than one dimension.
void wait_for(std::uint64_t first, std::va_list rest) {
  std::uint64_t iteration[kMostDimensions] = {first};
  for (std::uint32_t i = 1; i < region().doacross.dimensions; ++i)
    iteration[i] = va_arg(rest, std::uint64_t);
  wait_doacross(iteration);
}

}  // namespace

// All counters end at the same value, from which the next loop of a team of this size counts.
void end_doacross() {
  Region& own = region();
  if (!own.doacross.is_active) return;
  own.doacross.is_active = false;
  add_to_own(own.doacross, most_iterations(own.work) * own.doacross.inner);
  std::free(own.doacross.extents);
}

}  // namespace terrane::frontend::omp

using namespace terrane::frontend::omp;
using Unsigned = unsigned long long;

#define TERRANE_DOACROSS(name, Number, schedule)                                              \
  bool name(unsigned dimensions, Number* extents, Number chunk, Number* first, Number* end) { \
    return start(dimensions, extents, plan(Schedule::schedule, chunk), first, end);           \
  }
#define TERRANE_RUNTIME_DOACROSS(name, Number)                                          \
  bool name(unsigned dimensions, Number* extents, Number* first, Number* end) {         \
    return start(dimensions, extents, plan(Schedule::kRuntime, Number{0}), first, end); \
  }
#define TERRANE_SHARING_DOACROSS(name, Number)                                                   \
  bool name(unsigned dimensions, Number* extents, long schedule, Number chunk, Number* first,    \
            Number* end, std::uintptr_t* reductions, void** memory) {                            \
    return start_sharing(                                                                        \
        dimensions, extents,                                                                     \
        plan_of(static_cast<std::uint32_t>(schedule), static_cast<std::uint64_t>(chunk), false), \
        first, end, reductions, memory);                                                         \
  }

extern "C" {

TERRANE_DOACROSS(GOMP_loop_doacross_static_start, long, kStatic)
TERRANE_DOACROSS(GOMP_loop_doacross_dynamic_start, long, kDynamic)
TERRANE_DOACROSS(GOMP_loop_doacross_guided_start, long, kGuided)
TERRANE_RUNTIME_DOACROSS(GOMP_loop_doacross_runtime_start, long)
TERRANE_SHARING_DOACROSS(GOMP_loop_doacross_start, long)
TERRANE_DOACROSS(GOMP_loop_ull_doacross_static_start, Unsigned, kStatic)
TERRANE_DOACROSS(GOMP_loop_ull_doacross_dynamic_start, Unsigned, kDynamic)
TERRANE_DOACROSS(GOMP_loop_ull_doacross_guided_start, Unsigned, kGuided)
TERRANE_RUNTIME_DOACROSS(GOMP_loop_ull_doacross_runtime_start, Unsigned)
TERRANE_SHARING_DOACROSS(GOMP_loop_ull_doacross_start, Unsigned)

void GOMP_doacross_post(const std::uint64_t* iteration) { post_doacross(iteration); }
void GOMP_doacross_ull_post(const std::uint64_t* iteration) { post_doacross(iteration); }

void GOMP_doacross_wait(std::uint64_t first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait_for(first, rest);
  va_end(rest);
}

void GOMP_doacross_ull_wait(std::uint64_t first, ...) {
  std::va_list rest;
  va_start(rest, first);
  wait_for(first, rest);
  va_end(rest);
}

}  // extern "C"
