// Regions, sections, single, ordered, barriers, critical sections and cancellation.
#include <algorithm>
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

// Addresses in this library are no shared memory, but the same on all nodes: names of locks. A lock
// has four bytes of addresses (object_id).
alignas(8) char critical_lock;
alignas(8) char atomic_lock;

constexpr std::size_t kLookedAt = 512;  // words of what a `single` hands on, at most
// Where a thread's own variables lie: so near to the address that the machine has for them.
constexpr std::size_t kAlignment = 64;  // of copies of such variables
constexpr std::uintptr_t kNear = std::uintptr_t{1} << 28;

LoopBegin sections(unsigned count) {
  return {range_of(0l, static_cast<long>(count), 1l),
          plan_of(static_cast<std::uint32_t>(Schedule::kDynamic), 1, false)};
}

unsigned next_section() {
  std::uint64_t first = 0, end = 0;
  return next_chunk(first, end) ? static_cast<unsigned>(first) + 1 : 0;
}

// The directive `error`, whose message may be missing or without a zero at its end. In the words of
// gcc's library, which programs are tested for.
void say_error_directive(const char* severity, const char* text, std::size_t bytes) {
  if (text != nullptr && bytes == static_cast<std::size_t>(-1)) bytes = std::strlen(text);
  std::fprintf(stderr, "\nlibgomp: %serror directive encountered%s%.*s\n", severity,
               text == nullptr ? "" : ": ", static_cast<int>(bytes), text == nullptr ? "" : text);
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// How many bytes of the calling thread's own variables are behind a pointer to one; 0: it is none.
std::size_t own_bytes(const void* pointer) {
  auto at = reinterpret_cast<std::uintptr_t>(pointer);
  auto near = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  return at - (near - kNear) < 2 * kNear ? terrane_program_tls_behind(pointer) : 0;
}

// What a `single` hands on is a structure of values and pointers, whose size is not known, on the
// stack of the thread that runs it. Threads of other nodes, if the team has some, cannot read its
// threadprivate variables by their addresses: they get a copy of the structure, in which such
// pointers lead to copies.
void* for_others(void* variables) {
  auto** words = static_cast<void**>(variables);
  auto* end = static_cast<void* const*>(terrane_program_stack_end());
  if (words >= end) return variables;
  std::size_t count = std::min(kLookedAt, static_cast<std::size_t>(end - words)), bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += round_up(own_bytes(words[i]));
  if (bytes == 0) return variables;
  std::size_t own = kLookedAt * sizeof(void*);
  auto* copy = static_cast<std::byte*>(std::aligned_alloc(kAlignment, own + bytes));
  if (copy == nullptr) terrane_program_fail("no memory for the variables of copyprivate");
  std::memcpy(copy, variables, count * sizeof(void*));
  std::byte* next = copy + own;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t behind = own_bytes(words[i]);
    if (behind == 0) continue;
    std::memcpy(next, words[i], behind);
    reinterpret_cast<void**>(copy)[i] = next;
    next += round_up(behind);
  }
  return copy;
}

// What for_others has made for this thread's last `single` in a team of several nodes.
thread_local void* handed = nullptr;

}  // namespace

extern "C" {

void GOMP_parallel(Function* function, void* data, unsigned threads, unsigned flags) {
  run_region(function, data, threads, nullptr, flags);
}

unsigned GOMP_parallel_reductions(Function* function, void* data, unsigned threads,
                                  unsigned flags) {
  return run_reducing(function, data, threads, *static_cast<std::uintptr_t**>(data), flags);
}

void GOMP_parallel_start(Function* function, void* data, unsigned threads) {
  start_region(function, data, threads, nullptr);
}

void GOMP_parallel_end() { end_region(); }

void GOMP_parallel_sections(Function* function, void* data, unsigned threads, unsigned count,
                            unsigned flags) {
  LoopBegin begin = sections(count);
  run_region(function, data, threads, &begin, flags);
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
  const Region& own = region();
  if (own.size == 1) return;
  copied() = variables;
  if (own.threads_here != own.size) {
    std::free(handed);  // the others have read it
    void* others = for_others(variables);
    handed = others == variables ? nullptr : others;
    copied() = others;
  }
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

void GOMP_warning(const char* text, std::size_t bytes) { say_error_directive("", text, bytes); }

void GOMP_error(const char* text, std::size_t bytes) {
  say_error_directive("fatal error: ", text, bytes);
  std::exit(1);
}

}  // extern "C"
