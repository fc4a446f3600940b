// Loops over unsigned numbers: GOMP_loop_ull_*.
#include "frontend/omp/loop_calls.h"
#include "frontend/omp/reductions.h"

using namespace terrane::frontend::omp;

namespace {

using Number = unsigned long long;

}  // namespace

#define TERRANE_LOOP(name, schedule, is_ordered)                                                 \
  bool GOMP_loop_ull_##name##_start(bool up, Number from, Number end, Number step, Number chunk, \
                                    Number* out_first, Number* out_end) {                        \
    return start(range_of(up, from, end, step), plan_of(schedule, chunk, is_ordered), out_first, \
                 out_end);                                                                       \
  }                                                                                              \
  bool GOMP_loop_ull_##name##_next(Number* first, Number* end) { return give(first, end); }
#define TERRANE_RUNTIME_LOOP(name, is_ordered)                                               \
  bool GOMP_loop_ull_##name##_start(bool up, Number from, Number end, Number step,           \
                                    Number* out_first, Number* out_end) {                    \
    return start(range_of(up, from, end, step), plan_of(kRuntime, 0, is_ordered), out_first, \
                 out_end);                                                                   \
  }                                                                                          \
  bool GOMP_loop_ull_##name##_next(Number* first, Number* end) { return give(first, end); }

extern "C" {

TERRANE_LOOP(static, kStatic, false)
TERRANE_LOOP(dynamic, kDynamic, false)
TERRANE_LOOP(guided, kGuided, false)
TERRANE_LOOP(nonmonotonic_dynamic, kDynamic, false)
TERRANE_LOOP(nonmonotonic_guided, kGuided, false)
TERRANE_LOOP(ordered_static, kStatic, true)
TERRANE_LOOP(ordered_dynamic, kDynamic, true)
TERRANE_LOOP(ordered_guided, kGuided, true)
TERRANE_RUNTIME_LOOP(runtime, false)
TERRANE_RUNTIME_LOOP(nonmonotonic_runtime, false)
TERRANE_RUNTIME_LOOP(maybe_nonmonotonic_runtime, false)
TERRANE_RUNTIME_LOOP(ordered_runtime, true)

bool GOMP_loop_ull_start(bool up, Number from, Number end, Number step, long schedule, Number chunk,
                         Number* first, Number* out_end, std::uintptr_t* reductions,
                         void** memory) {
  bool deals = first != nullptr;
  Range range = deals ? range_of(up, from, end, step) : Range();
  begin_work(range, plan_of(deals ? static_cast<std::uint32_t>(schedule) : kStatic, chunk, false));
  share_memory_of_work(reductions, memory);
  return deals ? give(first, out_end) : true;
}

bool GOMP_loop_ull_ordered_start(bool up, Number from, Number end, Number step, long schedule,
                                 Number chunk, Number* first, Number* out_end,
                                 std::uintptr_t* reductions, void** memory) {
  begin_work(range_of(up, from, end, step),
             plan_of(static_cast<std::uint32_t>(schedule), chunk, true));
  share_memory_of_work(reductions, memory);
  return first == nullptr || give(first, out_end);
}

}  // extern "C"
