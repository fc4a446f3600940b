// Parallel regions, leagues, barriers, single, master, critical sections and reductions.
#include <alloca.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "frontend/omp/api.h"
#include "frontend/omp/kmp/abi.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp::kmp {
namespace {

// A region as its call says: on the stack of the thread that begins it, which is shared memory.
struct Call {
  Microtask* code;
  std::uint32_t count;
  void* words[1];  // count
};

constexpr std::uint32_t kFewWords = 4, kSomeWords = 16, kMostWords = 256;

// With at least as many words as the code takes: it leaves the others where they are.
template <std::size_t... I>
void invoke(Microtask* code, Gtid* number, void* const* words, std::index_sequence<I...>) {
  Gtid zero = 0;
  code(number, &zero, words[I]...);
}

template <std::uint32_t Most>
void invoke_with(const Call& call, Gtid* number) {
  std::array<void*, Most> words{};
  for (std::uint32_t i = 0; i < call.count; ++i) words[i] = call.words[i];
  invoke(call.code, number, words.data(), std::make_index_sequence<Most>());
}

void run(void* raw) {
  const Call& call = *static_cast<const Call*>(raw);
  Gtid number = number_of_thread();
  if (call.count <= kFewWords) return invoke_with<kFewWords>(call, &number);
  if (call.count <= kSomeWords) return invoke_with<kSomeWords>(call, &number);
  invoke_with<kMostWords>(call, &number);
}

// Only a name: nobody calls it by this type.
Function* name_of(Microtask* code) {
  return reinterpret_cast<Function*>(reinterpret_cast<void*>(code));
}

std::size_t bytes_of_call(std::int32_t count) {
  if (count < 0 || static_cast<std::uint32_t>(count) > kMostWords)
    terrane_program_fail("a parallel region uses more than 256 variables from around it");
  return sizeof(Call) + static_cast<std::size_t>(count) * sizeof(void*);
}

void fill(Call& call, std::int32_t count, Microtask* code, std::va_list words) {
  call.code = code;
  call.count = static_cast<std::uint32_t>(count);
  for (std::int32_t i = 0; i < count; ++i) call.words[i] = va_arg(words, void*);
}

void fork(Call& call, bool is_parallel = true) {
  Pushed said = std::exchange(pushed(), {});
  std::uint32_t threads = is_parallel ? said.threads : 1;
  run_region(run, &call, threads, nullptr, said.bind, name_of(call.code));
}

}  // namespace

Pushed& pushed() {
  static thread_local Pushed own;
  return own;
}

}  // namespace terrane::frontend::omp::kmp

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

extern "C" {

void GOMP_single_copy_end(void* variables);
void GOMP_error(const char* text, std::size_t bytes);
void GOMP_warning(const char* text, std::size_t bytes);

void __kmpc_begin(const Ident*, std::int32_t) {}
void __kmpc_end(const Ident*) {}

Gtid __kmpc_global_thread_num(const Ident*) { return number_of_thread(); }
std::int32_t __kmpc_global_num_threads(const Ident*) { return omp_get_num_threads(); }
Gtid __kmpc_bound_thread_num(const Ident*) { return number_of_thread(); }
std::int32_t __kmpc_bound_num_threads(const Ident*) { return omp_get_num_threads(); }
std::int32_t __kmpc_in_parallel(const Ident*) { return omp_in_parallel(); }
std::int32_t __kmpc_ok_to_fork(const Ident*) { return 1; }

void __kmpc_fork_call(const Ident*, std::int32_t count, Microtask* code, ...) {
  auto* call = static_cast<Call*>(alloca(bytes_of_call(count)));
  std::va_list words;
  va_start(words, code);
  fill(*call, count, code, words);
  va_end(words);
  fork(*call);
}

// Of a region with the clause `if`: its variables are in one structure, or there are none.
void __kmpc_fork_call_if(const Ident*, std::int32_t, Microtask* code, std::int32_t is_parallel,
                         void* variables) {
  Call call{code, variables == nullptr ? 0u : 1u, {variables}};
  fork(call, is_parallel != 0);
}

void __kmpc_serialized_parallel(const Ident*, Gtid) {
  pushed() = {};
  start_region(nullptr, nullptr, 1, nullptr);
}
void __kmpc_end_serialized_parallel(const Ident*, Gtid) { end_region(); }

void __kmpc_push_num_threads(const Ident*, Gtid, std::int32_t threads) {
  pushed().threads = threads > 0 ? static_cast<std::uint32_t>(threads) : 0;
}
void __kmpc_push_num_threads_strict(const Ident*, Gtid, std::int32_t threads, std::int32_t,
                                    const char*) {
  pushed().threads = threads > 0 ? static_cast<std::uint32_t>(threads) : 0;
}
void __kmpc_pop_num_threads(const Ident*, Gtid) { pushed().threads = 0; }
void __kmpc_push_proc_bind(const Ident*, Gtid, std::int32_t bind) {
  constexpr std::int32_t kLastOfOpenMp = 4;  // spread; what follows are no clauses
  pushed().bind = bind > 0 && bind <= kLastOfOpenMp ? static_cast<unsigned>(bind) : 0;
}

void __kmpc_push_num_teams(const Ident*, Gtid, std::int32_t teams, std::int32_t threads) {
  pushed().teams = teams > 0 ? static_cast<std::uint32_t>(teams) : 0;
  pushed().team_threads = threads > 0 ? static_cast<std::uint32_t>(threads) : 0;
}
void __kmpc_push_num_teams_51(const Ident* place, Gtid thread, std::int32_t, std::int32_t most,
                              std::int32_t threads) {
  __kmpc_push_num_teams(place, thread, most, threads);
}
void __kmpc_set_thread_limit(const Ident*, Gtid, std::int32_t threads) {
  pushed().team_threads = threads > 0 ? static_cast<std::uint32_t>(threads) : 0;
}
void __kmpc_fork_teams(const Ident*, std::int32_t count, Microtask* code, ...) {
  auto* call = static_cast<Call*>(alloca(bytes_of_call(count)));
  std::va_list words;
  va_start(words, code);
  fill(*call, count, code, words);
  va_end(words);
  Pushed said = std::exchange(pushed(), {});
  run_league(run, call, said.teams, said.team_threads);
}

void __kmpc_barrier(const Ident*, Gtid) { team_barrier(); }
std::int32_t __kmpc_cancel_barrier(const Ident*, Gtid) {
  team_barrier();
  return 0;
}
std::int32_t __kmpc_barrier_master(const Ident*, Gtid) {
  team_barrier();
  return region().number == 0 ? 1 : 0;
}
void __kmpc_end_barrier_master(const Ident*, Gtid) {}
std::int32_t __kmpc_barrier_master_nowait(const Ident*, Gtid) {
  team_barrier();
  return region().number == 0 ? 1 : 0;
}
std::int32_t __kmpc_cancel(const Ident*, Gtid, std::int32_t) { return 0; }
std::int32_t __kmpc_cancellationpoint(const Ident*, Gtid, std::int32_t) { return 0; }

std::int32_t __kmpc_master(const Ident*, Gtid) { return region().number == 0 ? 1 : 0; }
void __kmpc_end_master(const Ident*, Gtid) {}
std::int32_t __kmpc_masked(const Ident*, Gtid, std::int32_t thread) {
  return number_of_thread() == thread ? 1 : 0;
}
void __kmpc_end_masked(const Ident*, Gtid) {}
void __kmpc_scope(const Ident*, Gtid, void*) {}
void __kmpc_end_scope(const Ident*, Gtid, void*) {}

std::int32_t __kmpc_single(const Ident*, Gtid) { return begin_single() ? 1 : 0; }
void __kmpc_end_single(const Ident*, Gtid) {}

// Variables of the thread that has run the `single` go to the others.
void __kmpc_copyprivate(const Ident*, Gtid, std::size_t, void* variables,
                        void (*copy)(void*, void*), std::int32_t is_mine) {
  if (is_mine != 0) {
    GOMP_single_copy_end(variables);
  } else {
    team_barrier();
    copy(variables, copied());
  }
  team_barrier();
}
// The same for one variable at a time: where it is, for every thread.
void* __kmpc_copyprivate_light(const Ident*, Gtid, void* variable) {
  if (variable != nullptr) copied() = variable;
  team_barrier();
  return copied();
}

void __kmpc_critical(const Ident*, Gtid, void* name) { terrane_program_lock(name); }
void __kmpc_critical_with_hint(const Ident*, Gtid, void* name, std::uint32_t) {
  terrane_program_lock(name);
}
void __kmpc_end_critical(const Ident*, Gtid, void* name) { terrane_program_unlock(name); }

void __kmpc_flush(const Ident*) { terrane_program_flush(); }

// A thread adds its values to the variables under the reduction's lock: 1, for each of them.
std::int32_t __kmpc_reduce_nowait(const Ident*, Gtid, std::int32_t, std::size_t, void*,
                                  void (*)(void*, void*), void* lock) {
  if (region().size > 1) terrane_program_lock(lock);
  return 1;
}
void __kmpc_end_reduce_nowait(const Ident*, Gtid, void* lock) {
  if (region().size > 1) terrane_program_unlock(lock);
}
std::int32_t __kmpc_reduce(const Ident* place, Gtid thread, std::int32_t count, std::size_t bytes,
                           void* data, void (*combine)(void*, void*), void* lock) {
  return __kmpc_reduce_nowait(place, thread, count, bytes, data, combine, lock);
}
void __kmpc_end_reduce(const Ident* place, Gtid thread, void* lock) {
  __kmpc_end_reduce_nowait(place, thread, lock);
  team_barrier();
}

void __kmpc_error(const Ident*, std::int32_t severity, const char* text) {
  constexpr std::int32_t kFatal = 2;
  if (severity == kFatal) GOMP_error(text, static_cast<std::size_t>(-1));
  GOMP_warning(text, static_cast<std::size_t>(-1));
}

}  // extern "C"
