// Regions, sections, single, ordered, barriers, critical sections and cancellation.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/omp/reductions.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

// Addresses in this library are no shared memory, but the same on all nodes: names of locks.
char critical_lock, atomic_lock;

constexpr std::size_t kLookedAt = 64;  // words of what a `single` hands on

LoopBegin sections(unsigned count) {
  return {range_of(0l, static_cast<long>(count), 1l),
          plan_of(static_cast<std::uint32_t>(Schedule::kDynamic), 1, false)};
}

unsigned next_section() {
  std::uint64_t first = 0, end = 0;
  return next_chunk(first, end) ? static_cast<unsigned>(first) + 1 : 0;
}

// The variables that a `single` hands on are read by other nodes. A threadprivate one of them lies
// where they have their own.
void check_copied(void* variables) {
  if (terrane_program_nodes() == 1) return;
  auto** words = static_cast<void**>(variables);
  for (std::size_t i = 0; i < kLookedAt && terrane_program_is_shared(&words[i]); ++i) {
    bool may_be = words[i] != nullptr && !terrane_program_is_shared(words[i]);
    if (may_be && terrane_program_is_tls(words[i]))
      fail_unserved("copyprivate of a threadprivate array or object");
  }
}

}  // namespace

extern "C" {

void GOMP_parallel(Function* function, void* data, unsigned threads, unsigned) {
  run_region(function, data, threads, nullptr);
}

unsigned GOMP_parallel_reductions(Function* function, void* data, unsigned threads, unsigned) {
  return run_reducing(function, data, threads, *static_cast<std::uintptr_t**>(data));
}

void GOMP_parallel_start(Function* function, void* data, unsigned threads) {
  start_region(function, data, threads, nullptr);
}

void GOMP_parallel_end() { end_region(); }

void GOMP_parallel_sections(Function* function, void* data, unsigned threads, unsigned count,
                            unsigned) {
  LoopBegin begin = sections(count);
  run_region(function, data, threads, &begin);
}

void GOMP_parallel_sections_start(Function* function, void* data, unsigned threads,
                                  unsigned count) {
  LoopBegin begin = sections(count);
  start_region(function, data, threads, &begin);
}

unsigned GOMP_sections_start(unsigned count) {
  LoopBegin begin = sections(count);
  begin_work(begin.range, begin.plan);
  return next_section();
}

unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  LoopBegin begin = sections(count);
  begin_work(begin.range, begin.plan);
  share_memory_of_work(reductions, memory);
  return next_section();
}

unsigned GOMP_sections_next() { return next_section(); }

void GOMP_sections_end() { end_work_and_wait(); }

void GOMP_sections_end_nowait() { end_work(); }

bool GOMP_sections_end_cancel() {
  end_work_and_wait();
  return false;
}

bool GOMP_single_start() { return begin_single(); }

void* GOMP_single_copy_start() {
  if (begin_single()) return nullptr;
  team_barrier();
  return copied();
}

void GOMP_single_copy_end(void* variables) {
  if (region().size == 1) return;
  check_copied(variables);
  set_copied(variables);
  team_barrier();
}

void GOMP_scope_start(std::uintptr_t* reductions) {
  if (reductions == nullptr) return;
  begin_work(Range(), plan_of(static_cast<std::uint32_t>(Schedule::kStatic), 0, false));
  share_memory_of_work(reductions, nullptr);
}

void GOMP_ordered_start() { wait_for_turn(); }

void GOMP_ordered_end() {}

void GOMP_barrier() { team_barrier(); }

// Cancellation is inactive: OMP_CANCELLATION has no effect, which the specification allows.
bool GOMP_barrier_cancel() {
  team_barrier();
  return false;
}

bool GOMP_cancel(int, bool) { return false; }

bool GOMP_cancellation_point(int) { return false; }

void GOMP_critical_start() { terrane_program_lock(&critical_lock); }

void GOMP_critical_end() { terrane_program_unlock(&critical_lock); }

void GOMP_critical_name_start(void** name) { terrane_program_lock(name); }

void GOMP_critical_name_end(void** name) { terrane_program_unlock(name); }

void GOMP_atomic_start() { terrane_program_lock(&atomic_lock); }

void GOMP_atomic_end() { terrane_program_unlock(&atomic_lock); }

void GOMP_warning(const char* text, std::size_t bytes) {
  if (bytes == static_cast<std::size_t>(-1)) bytes = std::strlen(text);
  std::fprintf(stderr, "libgomp: warning: %.*s\n", static_cast<int>(bytes), text);
}

void GOMP_error(const char* text, std::size_t bytes) {
  if (bytes == static_cast<std::size_t>(-1)) bytes = std::strlen(text);
  std::fprintf(stderr, "libgomp: error: %.*s\n", static_cast<int>(bytes), text);
  std::exit(1);
}

}  // extern "C"
