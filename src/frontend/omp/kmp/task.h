#pragma once

#include <cstddef>
#include <cstdint>

#include "frontend/omp/dependences.h"
#include "frontend/omp/events.h"
#include "frontend/omp/in_task.h"
#include "frontend/omp/kmp/abi.h"

// A task of this interface: the compiler asks for its memory, fills it in, and hands it back.
namespace terrane::frontend::omp::kmp {

struct Task;
using TaskCode = std::int32_t(Gtid, Task*);

// As the compiler's code sees it. Behind it are the task's own variables, and then what it shares.
struct Task {
  void* shared;
  TaskCode* code;
  std::int32_t part;
  TaskCode* destructors;  // of its own variables, where kHasDestructors
  void* priority;
};

enum TaskFlag : std::uint32_t { kFinal = 2, kHasDestructors = 8 };

// What is kept in front of a task.
struct alignas(64) Header {
  std::size_t bytes;  // of the task, with its variables and what it shares
  std::uint32_t flags;
  bool has_started;    // its code has been called
  bool has_next_part;  // of an untied task: its code is to be called again
  Event event;
  std::uint64_t handle;
  alignas(InTask) std::byte in_task[sizeof(InTask)];  // of one that the compiler's code runs itself
};

inline Header& header_of(Task* task) { return reinterpret_cast<Header*>(task)[-1]; }

// Memory for a task, in shared memory; what is behind `bytes` is what it shares.
Task* make_task(std::size_t bytes, std::size_t shared_bytes, std::uint32_t flags, TaskCode* code);
// Another one with the same contents.
Task* copy_task(Task* task);
// Runs it now or later; its memory is given back afterwards.
void run_task(Task* task, bool may_wait);

// What a task depends on.
struct Dependence {
  std::uintptr_t address;
  std::size_t bytes;
  std::uint8_t flags;
};
// From two lists of such, of which one may be empty.
Dependences dependences_of(std::int32_t count, const Dependence* list, std::int32_t more,
                           const Dependence* others);

}  // namespace terrane::frontend::omp::kmp
