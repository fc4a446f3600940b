// Task reductions. Each thread of the team that runs a task has a copy of the variables, in memory
// that all threads share; it is made when a task asks for it.
#include "frontend/omp/kmp/reductions.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "frontend/omp/kmp/abi.h"
#include "frontend/omp/task_queue.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp::kmp {

// A variable, as the compiler describes it.
struct Variable {
  void* shared;
  void* original;
  std::size_t bytes;
  void* init;  // (copy, original), or of the older form (copy); nullptr: zeros
  void (*finish)(void*);
  void (*combine)(void*, void*);
  std::uint32_t flags;
};
// The older form.
struct OldVariable {
  void* shared;
  std::size_t bytes;
  void* init;
  void (*finish)(void*);
  void (*combine)(void*, void*);
  std::uint32_t flags;
};

// The task reductions of a group. The copies of one thread lie together.
struct Reductions {
  Reductions* outer;
  std::uint32_t count, threads;
  bool is_old;
  std::size_t bytes;      // of one thread's copies
  std::byte* copies;      // threads * bytes, and behind them a byte for each copy that was made
  Variable variables[1];  // count
};

namespace {

constexpr std::size_t kAlignment = 64;

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t bytes_of(const Reductions& all) {
  return all.threads * all.bytes + std::size_t{all.threads} * all.count;
}

Reductions* make(std::uint32_t count, bool is_old, const void* list) {
  auto* made =
      static_cast<Reductions*>(std::calloc(1, sizeof(Reductions) + count * sizeof(Variable)));
  if (made == nullptr) terrane_program_fail("no memory for a task reduction");
  made->count = count;
  made->threads = region().size;
  made->is_old = is_old;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (is_old) {
      const OldVariable& old = static_cast<const OldVariable*>(list)[i];
      made->variables[i] = {old.shared, old.shared,  old.bytes, old.init,
                            old.finish, old.combine, old.flags};
    } else {
      made->variables[i] = static_cast<const Variable*>(list)[i];
      if (made->variables[i].original == nullptr)
        made->variables[i].original = made->variables[i].shared;
    }
    made->bytes += round_up(made->variables[i].bytes);
  }
  return made;
}

void put_into_force(Reductions* made) {
  Group& group = *this_thread().group;
  made->outer = static_cast<Reductions*>(group.kmp_reductions);
  group.kmp_reductions = made;
}

std::byte* make_copies(const Reductions& all) {
  auto* copies = static_cast<std::byte*>(std::aligned_alloc(kAlignment, round_up(bytes_of(all))));
  if (copies == nullptr) terrane_program_fail("no memory for a task reduction");
  std::memset(copies, 0, bytes_of(all));
  return copies;
}

std::byte* copy_of(const Reductions& all, std::uint32_t thread, std::uint32_t variable) {
  std::byte* at = all.copies + thread * all.bytes;
  for (std::uint32_t i = 0; i < variable; ++i) at += round_up(all.variables[i].bytes);
  return at;
}

std::byte& was_made(const Reductions& all, std::uint32_t thread, std::uint32_t variable) {
  return all.copies[all.threads * all.bytes + std::size_t{thread} * all.count + variable];
}

// The calling thread's copy, which it makes if it has none yet.
void* own_copy(const Reductions& all, std::uint32_t variable) {
  std::uint32_t thread = region().number;
  std::byte* copy = copy_of(all, thread, variable);
  std::byte& made = was_made(all, thread, variable);
  if (made != std::byte{0}) return copy;
  const Variable& one = all.variables[variable];
  if (one.init == nullptr) {
    std::memset(copy, 0, one.bytes);
  } else if (all.is_old) {
    reinterpret_cast<void (*)(void*)>(one.init)(copy);
  } else {
    reinterpret_cast<void (*)(void*, void*)>(one.init)(copy, one.original);
  }
  made = std::byte{1};
  return copy;
}

// Whether an address is that of the variable, or in a thread's copy of it.
bool is_of(const Reductions& all, std::uint32_t variable, const void* address) {
  const Variable& one = all.variables[variable];
  if (address == one.shared || address == one.original) return true;
  auto* at = static_cast<const std::byte*>(address);
  for (std::uint32_t thread = 0; thread < all.threads; ++thread)
    if (at == copy_of(all, thread, variable)) return true;
  return false;
}

void* find(Reductions* first, const void* address) {
  for (Reductions* all = first; all != nullptr; all = all->outer)
    for (std::uint32_t i = 0; i < all->count; ++i)
      if (is_of(*all, i, address)) return own_copy(*all, i);
  return nullptr;
}

void add(const Reductions& all, std::uint32_t thread) {
  for (std::uint32_t i = 0; i < all.count; ++i) {
    if (was_made(all, thread, i) == std::byte{0}) continue;
    std::byte* copy = copy_of(all, thread, i);
    all.variables[i].combine(all.variables[i].shared, copy);
    if (all.variables[i].finish != nullptr) all.variables[i].finish(copy);
  }
}

// For a group: the calling thread begins it.
void* begin(std::uint32_t count, bool is_old, const void* list) {
  if (this_thread().group == nullptr) fail_unserved("task_reduction outside of a taskgroup");
  Reductions* made = make(count, is_old, list);
  made->copies = make_copies(*made);
  put_into_force(made);
  return made;
}

// Those that the first thread of the team that comes here has made.
std::byte* copies_of_team(const Reductions& all) {
  begin_work(Range(), plan_of(static_cast<std::uint32_t>(Schedule::kStatic), 0, false));
  auto* shared = static_cast<std::byte**>(block_of_work(sizeof(std::byte*)));
  end_work();
  terrane_program_lock(shared);
  if (*shared == nullptr) *shared = make_copies(all);
  std::byte* copies = *shared;
  terrane_program_unlock(shared);
  return copies;
}

// For a region or a loop: each thread of the team describes its own variables, and the copies are
// shared.
void* begin_of_work(std::uint32_t count, bool is_old, const void* list) {
  begin_group();
  Reductions* made = make(count, is_old, list);
  made->copies = region().size == 1 ? make_copies(*made) : copies_of_team(*made);
  put_into_force(made);
  return made;
}

}  // namespace

void end_reductions(Group& group) {
  auto* all = static_cast<Reductions*>(std::exchange(group.kmp_reductions, nullptr));
  while (all != nullptr && (group.outer == nullptr || all != group.outer->kmp_reductions)) {
    for (std::uint32_t thread = 0; thread < all->threads; ++thread) add(*all, thread);
    std::free(all->copies);
    std::free(std::exchange(all, all->outer));
  }
}

}  // namespace terrane::frontend::omp::kmp

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

extern "C" {

void* __kmpc_taskred_init(Gtid, std::int32_t count, const void* list) {
  return begin(static_cast<std::uint32_t>(count), false, list);
}
void* __kmpc_task_reduction_init(Gtid, std::int32_t count, const void* list) {
  return begin(static_cast<std::uint32_t>(count), true, list);
}
void* __kmpc_taskred_modifier_init(const Ident*, Gtid, std::int32_t, std::int32_t count,
                                   const void* list) {
  return begin_of_work(static_cast<std::uint32_t>(count), false, list);
}
void* __kmpc_task_reduction_modifier_init(const Ident*, Gtid, std::int32_t, std::int32_t count,
                                          const void* list) {
  return begin_of_work(static_cast<std::uint32_t>(count), true, list);
}

// The copies of the calling thread's number become part of its own variables; tasks of the others
// may have used them, so that all have to have ended.
void __kmpc_task_reduction_modifier_fini(const Ident*, Gtid, std::int32_t) {
  Group& group = *this_thread().group;
  await_group(group);
  team_barrier();
  auto* all = static_cast<Reductions*>(group.kmp_reductions);
  add(*all, region().number);
  group.kmp_reductions = all->outer;
  team_barrier();
  if (region().number == 0) std::free(all->copies);
  std::free(all);
  end_group();
}

void* __kmpc_task_reduction_get_th_data(Gtid, void* reductions, void* variable) {
  auto* first = static_cast<Reductions*>(reductions);
  if (first == nullptr && this_thread().group != nullptr)
    first = static_cast<Reductions*>(this_thread().group->kmp_reductions);
  void* copy = find(first, variable);
  if (copy == nullptr)
    terrane_program_fail(
        "a task has the clause in_reduction of a variable without task_reduction around it");
  return copy;
}

}  // extern "C"
