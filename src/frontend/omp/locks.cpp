// Locks: omp_init_lock and the others. A lock is one of the job, by its address. A nested one
// belongs to a task: in its own memory, which its holder alone touches, it counts, and has the
// number of that task among those of the thread that holds the lock of the job.
#include <cstdint>
#include <cstdio>

#include "frontend/omp/team.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

struct NestedLock {
  std::int32_t depth;
  std::uint32_t task;
};
static_assert(sizeof(NestedLock) == 8, "omp_nest_lock_t of OpenMP 2.5 and of Fortran");

[[noreturn]] void fail(const char* call, const char* what) {
  char sentence[160];
  std::snprintf(sentence, sizeof sentence, "%s: %s", call, what);
  terrane_program_fail(sentence);
}

void check(const char* call, const void* lock) {
  if (!terrane_program_is_shared(lock))
    fail(call, "the lock is a threadprivate variable or private memory; make it a global variable");
}

void init(void* lock) {
  check("omp_init_lock", lock);
  *static_cast<std::int32_t*>(lock) = 0;
}

void destroy(void*) {}

void set(void* lock) {
  if (terrane_program_lock(lock) == kLockIsOwn)
    fail("omp_set_lock", "this thread holds the lock already; use omp_nest_lock_t");
}

void unset(void* lock) {
  if (!terrane_program_unlock(lock)) fail("omp_unset_lock", "this thread does not hold the lock");
}

int test(void* lock) { return terrane_program_try_lock(lock) == kLockTaken ? 1 : 0; }

void nest_init(void* lock) {
  check("omp_init_nest_lock", lock);
  *static_cast<NestedLock*>(lock) = {};
}

// Whether the calling thread's task has it now; `taken` is what the lock of the job said.
bool enter(NestedLock& nested, terrane_program_locked taken) {
  std::uint32_t task = this_thread().task_number;
  if (taken == kLockTaken) nested = {0, task};
  if (nested.task != task) return false;
  ++nested.depth;
  return true;
}

void nest_set(void* lock) {
  if (!enter(*static_cast<NestedLock*>(lock), terrane_program_lock(lock)))
    fail(
        "omp_set_nest_lock",
        "another task of this thread holds the lock, and cannot give it back before this one ends");
}

void nest_unset(void* lock) {
  auto* nested = static_cast<NestedLock*>(lock);
  if (terrane_program_try_lock(lock) != kLockIsOwn)
    fail("omp_unset_nest_lock", "this thread does not hold the lock");
  if (--nested->depth == 0) terrane_program_unlock(lock);
}

int nest_test(void* lock) {
  terrane_program_locked taken = terrane_program_try_lock(lock);
  auto* nested = static_cast<NestedLock*>(lock);
  return taken != kLockIsBusy && enter(*nested, taken) ? nested->depth : 0;
}

}  // namespace

// Two versions of each function, for the locks of OpenMP 2.5 and of 3.0: both fit what is kept in
// them. In Fortran a lock is an integer, so that the calls with an underscore are the same.
#define TERRANE_LOCK(result, name, function)                                  \
  result terrane_new_##name(void* lock) __asm__("terrane_new_" #name);        \
  result terrane_new_##name(void* lock) { return function(lock); }            \
  result terrane_old_##name(void* lock) __asm__("terrane_old_" #name);        \
  result terrane_old_##name(void* lock) { return function(lock); }            \
  result terrane_new_##name##_(void* lock) __asm__("terrane_new_" #name "_"); \
  result terrane_new_##name##_(void* lock) { return function(lock); }         \
  result terrane_old_##name##_(void* lock) __asm__("terrane_old_" #name "_"); \
  result terrane_old_##name##_(void* lock) { return function(lock); }         \
  __asm__(".symver terrane_new_" #name "," #name "@@OMP_3.0");                \
  __asm__(".symver terrane_old_" #name "," #name "@OMP_1.0");                 \
  __asm__(".symver terrane_new_" #name "_," #name "_@@OMP_3.0");              \
  __asm__(".symver terrane_old_" #name "_," #name "_@OMP_1.0");

extern "C" {
TERRANE_LOCK(void, omp_init_lock, init)
TERRANE_LOCK(void, omp_destroy_lock, destroy)
TERRANE_LOCK(void, omp_set_lock, set)
TERRANE_LOCK(void, omp_unset_lock, unset)
TERRANE_LOCK(int, omp_test_lock, test)
TERRANE_LOCK(void, omp_init_nest_lock, nest_init)
TERRANE_LOCK(void, omp_destroy_nest_lock, destroy)
TERRANE_LOCK(void, omp_set_nest_lock, nest_set)
TERRANE_LOCK(void, omp_unset_nest_lock, nest_unset)
TERRANE_LOCK(int, omp_test_nest_lock, nest_test)
}
