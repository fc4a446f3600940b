// Loops over signed numbers, and regions that consist of one: GOMP_loop_*, GOMP_parallel_loop_*.
#include "frontend/omp/loop_calls.h"
#include "frontend/omp/reductions.h"

using namespace terrane::frontend::omp;

namespace {

LoopBegin loop(long start, long end, long step, std::uint32_t schedule, long chunk) {
  return {range_of(start, end, step), plan_of(schedule, static_cast<std::uint64_t>(chunk), false)};
}

}  // namespace

// The functions of one schedule, whose chunk is given, and of one whose chunk is in the
// environment.
#define TERRANE_LOOP(name, schedule, is_ordered)                                              \
  bool GOMP_loop_##name##_start(long from, long end, long step, long chunk, long* out_first,  \
                                long* out_end) {                                              \
    return start(range_of(from, end, step),                                                   \
                 plan_of(schedule, static_cast<std::uint64_t>(chunk), is_ordered), out_first, \
                 out_end);                                                                    \
  }                                                                                           \
  bool GOMP_loop_##name##_next(long* first, long* end) { return give(first, end); }
#define TERRANE_RUNTIME_LOOP(name, is_ordered)                                                     \
  bool GOMP_loop_##name##_start(long from, long end, long step, long* out_first, long* out_end) {  \
    return start(range_of(from, end, step), plan_of(kRuntime, 0, is_ordered), out_first, out_end); \
  }                                                                                                \
  bool GOMP_loop_##name##_next(long* first, long* end) { return give(first, end); }
#define TERRANE_PARALLEL_LOOP(name, schedule)                                                 \
  void GOMP_parallel_loop_##name(Function* function, void* data, unsigned threads, long from, \
                                 long end, long step, long chunk, unsigned flags) {           \
    LoopBegin begin = loop(from, end, step, schedule, chunk);                                 \
    run_region(function, data, threads, &begin, flags);                                       \
  }
#define TERRANE_PARALLEL_RUNTIME_LOOP(name)                                                   \
  void GOMP_parallel_loop_##name(Function* function, void* data, unsigned threads, long from, \
                                 long end, long step, unsigned flags) {                       \
    LoopBegin begin = loop(from, end, step, kRuntime, 0);                                     \
    run_region(function, data, threads, &begin, flags);                                       \
  }
#define TERRANE_PARALLEL_LOOP_START(name, schedule)                                        \
  void GOMP_parallel_loop_##name##_start(Function* function, void* data, unsigned threads, \
                                         long from, long end, long step, long chunk) {     \
    LoopBegin begin = loop(from, end, step, schedule, chunk);                              \
    start_region(function, data, threads, &begin);                                         \
  }

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

TERRANE_PARALLEL_LOOP(static, kStatic)
TERRANE_PARALLEL_LOOP(dynamic, kDynamic)
TERRANE_PARALLEL_LOOP(guided, kGuided)
TERRANE_PARALLEL_LOOP(nonmonotonic_dynamic, kDynamic)
TERRANE_PARALLEL_LOOP(nonmonotonic_guided, kGuided)
TERRANE_PARALLEL_RUNTIME_LOOP(runtime)
TERRANE_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime)
TERRANE_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime)
TERRANE_PARALLEL_LOOP_START(static, kStatic)
TERRANE_PARALLEL_LOOP_START(dynamic, kDynamic)
TERRANE_PARALLEL_LOOP_START(guided, kGuided)

void GOMP_parallel_loop_runtime_start(Function* function, void* data, unsigned threads, long from,
                                      long end, long step) {
  LoopBegin begin = loop(from, end, step, kRuntime, 0);
  start_region(function, data, threads, &begin);
}

// A loop whose threads also share a block of memory. Without `first` the compiler deals the
// iterations itself.
bool GOMP_loop_start(long from, long end, long step, long schedule, long chunk, long* first,
                     long* out_end, std::uintptr_t* reductions, void** memory) {
  bool deals = first != nullptr;
  Range range = deals ? range_of(from, end, step) : Range();
  begin_work(range, plan_of(deals ? static_cast<std::uint32_t>(schedule) : kStatic,
                            static_cast<std::uint64_t>(chunk), false));
  share_memory_of_work(reductions, memory);
  return deals ? give(first, out_end) : true;
}

bool GOMP_loop_ordered_start(long from, long end, long step, long schedule, long chunk, long* first,
                             long* out_end, std::uintptr_t* reductions, void** memory) {
  begin_work(range_of(from, end, step), plan_of(static_cast<std::uint32_t>(schedule),
                                                static_cast<std::uint64_t>(chunk), true));
  share_memory_of_work(reductions, memory);
  return first == nullptr || give(first, out_end);
}

void GOMP_loop_end() { end_work_and_wait(); }

void GOMP_loop_end_nowait() { end_work(); }

bool GOMP_loop_end_cancel() {
  end_work_and_wait();
  return false;
}

}  // extern "C"
