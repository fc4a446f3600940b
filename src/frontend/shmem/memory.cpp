// Accessibility and memory: chapters "Library Setup, Exit, and Query Routines" and "Memory
// Management Routines".

#include <shmem.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/process.h"
#include "frontend/shmem/team_handle.h"

namespace {

using terrane::frontend::shmem::CallKind;
using terrane::frontend::shmem::checks_calls;
using terrane::frontend::shmem::compare_memory_call;
using terrane::frontend::shmem::fail;
using terrane::frontend::shmem::pe_of;
using terrane::frontend::shmem::Timed;
using terrane::frontend::shmem::world_for;
using terrane::runtime::shmem::JobWorld;
using terrane::runtime::shmem::Part;

// All PEs get the block or none: each says whether it has the room.
void* allocate(const char* call, std::size_t bytes, std::size_t alignment, bool zeroed) {
  Timed timed(CallKind::kCollective, call);
  JobWorld& world = world_for(call);
  compare_memory_call(call, zeroed ? "calloc" : "malloc", bytes, alignment);
  if (bytes == 0) return nullptr;
  auto& heap = world.heap();
  bool affords = heap.affords(bytes);
  auto offset = affords ? heap.take(bytes, alignment, zeroed) : std::nullopt;
  if (world.all_agree(offset.has_value()) && offset) return heap.data() + *offset;
  if (offset) heap.give_back(*offset);
  return nullptr;
}

// The offset of the block that `address` begins.
std::uint64_t block_at(JobWorld& world, const char* call, const void* address) {
  auto place = world.memory().locate(address, 1);
  bool in_heap = place && place->part == Part::kHeap;
  if (!in_heap || !world.heap().size_at(place->offset)) {
    fail(call, fmt::format("{} is not the start of a block of the symmetric heap, or was freed "
                           "already",
                           fmt::ptr(address)));
  }
  return place->offset;
}

void release(JobWorld& world, const char* call, void* address) {
  Timed timed(CallKind::kCollective, call);
  std::uint64_t offset = block_at(world, call, address);
  compare_memory_call(call, "free", 0, 1, offset);
  world.all_agree(true);
  world.heap().give_back(offset);
}

void* reallocate(JobWorld& world, const char* call, void* address, std::size_t bytes) {
  Timed timed(CallKind::kCollective, call);
  auto& heap = world.heap();
  std::uint64_t offset = block_at(world, call, address);
  std::uint64_t before = *heap.size_at(offset);
  compare_memory_call(call, "realloc", bytes, 1, offset);
  world.all_agree(true);  // nobody writes to the block any more
  std::uint64_t more = bytes > before ? bytes - before : 0;
  bool affords = heap.affords(more);
  if (affords && heap.resize(offset, bytes)) {
    if (world.all_agree(true)) return address;
    heap.resize(offset, before);
    return nullptr;
  }
  auto moved = affords && heap.affords(bytes) ? heap.take(bytes, 1, false) : std::nullopt;
  if (!world.all_agree(moved.has_value()) || !moved) {
    if (moved) heap.give_back(*moved);
    return nullptr;
  }
  std::memcpy(heap.data() + *moved, address, std::min<std::uint64_t>(before, bytes));
  heap.give_back(offset);
  world.all_agree(true);
  return heap.data() + *moved;
}

}  // namespace

extern "C" {

int shmem_pe_accessible(int pe) noexcept {
  auto& world = world_for("shmem_pe_accessible");
  return pe >= 0 && static_cast<std::uint32_t>(pe) < world.pes() ? 1 : 0;
}

int shmem_addr_accessible(const void* address, int pe) noexcept {
  auto& world = world_for("shmem_addr_accessible");
  bool exists = pe >= 0 && static_cast<std::uint32_t>(pe) < world.pes();
  return exists && world.memory().locate(address, 1) ? 1 : 0;
}

void* shmem_ptr(const void* dest, int pe) noexcept {
  auto& world = world_for("shmem_ptr");
  terrane::NodeId there = pe_of(world, "shmem_ptr", pe);
  auto place = world.memory().locate(dest, 1);
  return place ? world.memory().at(there, *place) : nullptr;
}

void* shmem_malloc(size_t size) noexcept { return allocate("shmem_malloc", size, 1, false); }

void* shmem_malloc_with_hints(size_t size, long) noexcept {
  return allocate("shmem_malloc_with_hints", size, 1, false);
}

void* shmem_calloc(size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;  // which no heap has
  return allocate("shmem_calloc", bytes, 1, true);
}

void* shmem_align(size_t alignment, size_t size) noexcept {
  // Small powers of two, which the specification leaves undefined, do no harm.
  bool small = alignment < sizeof(void*) && checks_calls();
  bool valid = std::has_single_bit(alignment) && !small;
  if (!valid && !checks_calls()) {
    world_for("shmem_align");
    return nullptr;
  }
  if (!valid) {
    fail("shmem_align", fmt::format("alignment {} is not a power of two and a multiple of {}",
                                    alignment, sizeof(void*)));
  }
  return allocate("shmem_align", size, alignment, false);
}

void* shmem_realloc(void* ptr, size_t size) noexcept {
  if (ptr == nullptr) return allocate("shmem_realloc", size, 1, false);
  JobWorld& world = world_for("shmem_realloc");
  if (size != 0) return reallocate(world, "shmem_realloc", ptr, size);
  release(world, "shmem_realloc", ptr);
  return nullptr;
}

void shmem_free(void* ptr) noexcept {
  JobWorld& world = world_for("shmem_free");
  if (ptr != nullptr) return release(world, "shmem_free", ptr);
  compare_memory_call("shmem_free", "free", 0);
}

}  // extern "C"
