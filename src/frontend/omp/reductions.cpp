#include "frontend/omp/reductions.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "frontend/omp/task_queue.h"
#include "frontend/omp/work.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

enum Word : std::size_t { kCount, kBytes, kMemory, kAllocator, kNext, kIsFirst, kEnd, kVariables };
constexpr std::size_t kWords = 3;  // of a variable: its address, its copy's offset, and one more

std::uintptr_t round_up(std::uintptr_t number, std::uintptr_t to) {
  return (number + to - 1) / to * to;
}

std::uintptr_t* next_of(const std::uintptr_t* table) {
  return reinterpret_cast<std::uintptr_t*>(table[kNext]);
}

// Links the clause's tables with those that are in force, and puts them in their place.
void put_into_force(std::uintptr_t* tables) {
  Thread& me = this_thread();
  std::uintptr_t* last = tables;
  for (; next_of(last) != nullptr; last = next_of(last)) last[kIsFirst] = 0;
  last[kIsFirst] = 0;
  tables[kIsFirst] = 1;
  last[kNext] = reinterpret_cast<std::uintptr_t>(me.group->reductions);
  me.group->reductions = tables;
}

// The variable at an address, or of which that is a thread's copy: its table and offset. Its
// address, if `original` is wanted.
struct Found {
  const std::uintptr_t* table = nullptr;
  std::uintptr_t offset = 0;
};

Found find(std::uintptr_t address) {
  const Group* group = this_thread().group;
  const std::uintptr_t* table = group == nullptr ? nullptr : group->reductions;
  for (; table != nullptr; table = next_of(table)) {
    for (std::size_t i = 0; i < table[kCount]; ++i) {
      const std::uintptr_t* variable = table + kVariables + i * kWords;
      if (variable[0] == address) return {table, variable[1]};
    }
    if (address >= table[kMemory] && address < table[kEnd])
      return {table, (address - table[kMemory]) % table[kBytes]};
  }
  terrane_program_fail(
      "a task has the clause in_reduction of a variable without task_reduction around it");
}

std::uintptr_t original_of(const Found& found) {
  for (std::size_t i = 0; i < found.table[kCount]; ++i) {
    const std::uintptr_t* variable = found.table + kVariables + i * kWords;
    if (variable[1] == found.offset) return variable[0];
  }
  return 0;
}

void give_back(std::uintptr_t* tables) {
  std::uintptr_t* table = tables;
  do {
    std::free(reinterpret_cast<void*>(table[kMemory]));
    table = next_of(table);
  } while (table != nullptr && table[kIsFirst] == 0);
}

}  // namespace

void register_reductions(std::uintptr_t* tables, std::uint32_t threads) {
  for (std::uintptr_t* table = tables; table != nullptr; table = next_of(table)) {
    std::size_t bytes = round_up(table[kBytes] * threads, table[kMemory]);
    void* memory = std::aligned_alloc(table[kMemory], bytes);
    if (memory == nullptr) terrane_program_fail("no memory for a task reduction");
    std::memset(memory, 0, bytes);
    table[kMemory] = reinterpret_cast<std::uintptr_t>(memory);
    table[kEnd] = table[kMemory] + bytes;
  }
  put_into_force(tables);
}

void share_memory_of_work(std::uintptr_t* reductions, void** memory) {
  std::uint32_t threads = region().size;
  std::uintptr_t bytes = memory == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(*memory);
  std::uintptr_t own = bytes, alignment = 64;
  if (reductions != nullptr) {
    begin_group();
    if (threads == 1) {
      register_reductions(reductions, 1);
      reductions = nullptr;
    }
  }
  for (auto* table = reductions; table != nullptr; table = next_of(table)) {
    alignment = std::max(alignment, table[kMemory]);
    bytes = round_up(bytes, table[kMemory]) + table[kBytes] * threads;
  }
  if (bytes == 0) return;
  auto start = reinterpret_cast<std::uintptr_t>(block_of_work(bytes + alignment));
  start = round_up(start, alignment);
  if (memory != nullptr) *memory = reinterpret_cast<void*>(start);
  if (reductions == nullptr) return;
  std::uintptr_t at = start + own;
  for (auto* table = reductions; table != nullptr; table = next_of(table)) {
    at = round_up(at, table[kMemory]);
    table[kMemory] = at;
    at += table[kBytes] * threads;
    table[kEnd] = at;
  }
  put_into_force(reductions);
}

void begin_group() {
  Thread& me = this_thread();
  auto* group = static_cast<Group*>(std::malloc(sizeof(Group)));
  if (group == nullptr) terrane_program_fail("no memory for a taskgroup");
  *group = {};
  group->outer = me.group;
  if (me.group != nullptr) {
    group->reductions = me.group->reductions;
    group->kmp_reductions = me.group->kmp_reductions;
  }
  me.group = group;
}

void end_group() {
  Thread& me = this_thread();
  Group* group = me.group;
  me.group = group->outer;
  std::free(group);
}

}  // namespace terrane::frontend::omp

using namespace terrane::frontend::omp;

extern "C" {

void GOMP_taskgroup_reduction_register(std::uintptr_t* tables) {
  register_reductions(tables, region().size);
}

void GOMP_taskgroup_reduction_unregister(std::uintptr_t* tables) { give_back(tables); }

void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  std::uintptr_t* tables = this_thread().group->reductions;
  await_group(*this_thread().group);
  end_group();
  if (region().size == 1) give_back(tables);
  if (!is_cancelled) team_barrier();
}

// Each of the addresses becomes that of the calling thread's copy; those of the variables
// themselves go behind them, for the first ones.
void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
  std::uint32_t number = region().number;
  for (std::size_t i = 0; i < count; ++i) {
    Found found = find(reinterpret_cast<std::uintptr_t>(addresses[i]));
    addresses[i] =
        reinterpret_cast<void*>(found.table[kMemory] + number * found.table[kBytes] + found.offset);
    if (i < originals) addresses[count + i] = reinterpret_cast<void*>(original_of(found));
  }
}

}  // extern "C"
