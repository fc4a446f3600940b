// Allocators. All memory spaces are the program's shared memory. The trait `partition` says where
// the pages of a large block have their homes. A block has a header in front of it.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "frontend/omp/api.h"
#include "frontend/omp/team.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

// As in omp.h.
enum class Key : std::int32_t {
  kSyncHint = 1,
  kAlignment,
  kAccess,
  kPoolSize,
  kFallback,
  kFallbackData,
  kPinned,
  kPartition
};
constexpr std::uintptr_t kDefaultValue = ~std::uintptr_t{0}, kTrue = 1;
enum Fallback : std::uintptr_t { kDefaultMemory = 11, kNullPointer, kAbort, kOtherAllocator };
enum Partition : std::uintptr_t { kEnvironment = 15, kNearest, kBlocked, kInterleaved };
constexpr std::uintptr_t kMostSpaces = 5, kDefaultHandle = 1, kLastPredefined = 8;

struct Trait {
  Key key;
  std::uintptr_t value;
};

struct Allocator {
  std::size_t alignment = 1;
  std::size_t pool_bytes = ~std::size_t{0}, used_bytes = 0;
  std::uintptr_t fallback = kDefaultMemory, fallback_allocator = 0;
  std::uintptr_t partition = kEnvironment;
};

struct alignas(16) Header {
  void* memory;       // of which the block is a part
  std::size_t bytes;  // that the program asked for
  Allocator* pool;    // that they count in, or nullptr
  bool is_homed;      // the memory is whole pages
};

// nullptr: one without traits.
Allocator* allocator_of(std::uintptr_t handle) {
  if (handle == 0) handle = omp_get_default_allocator();
  return handle <= kLastPredefined ? nullptr : reinterpret_cast<Allocator*>(handle);
}

Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

void* place_block(std::byte* memory, std::byte* block, std::size_t bytes, bool is_homed) {
  header_of(block) = {memory, bytes, nullptr, is_homed};
  return block;
}

void* from_heap(std::size_t bytes, std::size_t alignment) {
  std::size_t head = std::max(alignment, sizeof(Header));
  std::size_t all = (head + bytes + alignment - 1) / alignment * alignment;
  if (all < bytes) return nullptr;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, all));
  return memory == nullptr ? nullptr : place_block(memory, memory + head, bytes, false);
}

// The block begins with a page, behind the one that holds the header; an interleaved one with a
// page of node 0.
void* from_pages(std::size_t bytes, std::uintptr_t partition) {
  std::size_t page = terrane_program_page_bytes();
  terrane_program_homes homes = kProgramOnNode;
  if (partition == kBlocked) homes = kProgramBlocks;
  if (partition == kInterleaved) homes = kProgramCyclic;
  if (bytes > ~std::size_t{0} / 2) return nullptr;
  std::uint32_t node = homes == kProgramOnNode ? terrane_program_node() : 0;
  std::size_t head = homes == kProgramCyclic ? page * terrane_program_cycle_nodes() : page;
  auto* memory = static_cast<std::byte*>(terrane_program_homed_memory(head + bytes, homes, node));
  return memory == nullptr ? nullptr : place_block(memory, memory + head, bytes, true);
}

// False: the pool has not so many bytes left. `returned`: bytes that come back to it.
bool take_from_pool(Allocator& from, std::size_t bytes, std::size_t returned) {
  if (from.pool_bytes == ~std::size_t{0}) return true;
  terrane_program_lock(&from);
  bool fits = bytes <= from.pool_bytes - from.used_bytes + returned;
  if (fits) from.used_bytes += bytes - returned;
  terrane_program_unlock(&from);
  return fits;
}

void give_to_pool(Allocator* to, std::size_t bytes) {
  if (to == nullptr || to->pool_bytes == ~std::size_t{0}) return;
  terrane_program_lock(to);
  to->used_bytes -= bytes;
  terrane_program_unlock(to);
}

// `replaced`: of a block that goes in exchange; its bytes may be of this pool.
void* allocate_by(Allocator& from, std::size_t bytes, std::size_t alignment, Header* replaced) {
  bool is_from_here = replaced != nullptr && replaced->pool == &from;
  std::size_t returned = is_from_here ? replaced->bytes : 0;
  if (!take_from_pool(from, bytes, returned)) return nullptr;
  std::size_t page = terrane_program_page_bytes();
  bool has_homes = from.partition != kEnvironment && terrane_program_nodes() > 1 && bytes >= page &&
                   alignment <= page;
  void* block = has_homes ? from_pages(bytes, from.partition) : from_heap(bytes, alignment);
  if (block == nullptr) {
    give_to_pool(&from, bytes - returned);
  } else {
    if (is_from_here) replaced->pool = nullptr;
    header_of(block).pool = &from;
  }
  return block;
}

void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t handle,
               Header* replaced = nullptr) {
  if (bytes == 0) return nullptr;
  alignment = std::max(alignment, alignof(Header));
  Allocator* allocator = allocator_of(handle);
  while (allocator != nullptr) {
    alignment = std::max(alignment, allocator->alignment);
    void* block = allocate_by(*allocator, bytes, alignment, replaced);
    if (block != nullptr) return block;
    if (allocator->fallback == kNullPointer) return nullptr;
    if (allocator->fallback == kAbort)
      terrane_program_fail("an OpenMP allocator with the fallback abort_fb has no memory left");
    if (allocator->fallback == kDefaultMemory) break;
    allocator = allocator_of(allocator->fallback_allocator);
  }
  return from_heap(bytes, alignment);
}

void free_block(void* block) {
  if (block == nullptr) return;
  Header header = header_of(block);
  give_to_pool(header.pool, header.bytes);
  if (header.is_homed) {
    terrane_program_give_memory(header.memory);
  } else {
    std::free(header.memory);
  }
}

// A block stays with its allocator unless there is another one.
void* reallocate(void* block, std::size_t bytes, std::uintptr_t handle) {
  Header& header = header_of(block);
  if (handle == 0)
    handle =
        header.pool != nullptr ? reinterpret_cast<std::uintptr_t>(header.pool) : kDefaultHandle;
  void* moved = allocate(bytes, 1, handle, &header);
  if (bytes != 0 && moved == nullptr) return nullptr;
  if (moved != nullptr) std::memcpy(moved, block, std::min(bytes, header.bytes));
  free_block(block);
  return moved;
}

void* allocate_zeros(std::size_t count, std::size_t size, std::size_t alignment,
                     std::uintptr_t handle) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = allocate(bytes, alignment, handle);
  // Fresh pages are zeros, and would get their bytes at this node.
  if (block != nullptr && !header_of(block).is_homed) std::memset(block, 0, bytes);
  return block;
}

bool is_one_of(std::uintptr_t value, std::uintptr_t first, std::uintptr_t last) {
  return value >= first && value <= last;
}

// False: no allocator can have it.
bool apply(Allocator& to, Key key, std::uintptr_t value) {
  bool is_default = value == kDefaultValue;
  switch (key) {
    case Key::kSyncHint:
      return is_default || is_one_of(value, 3, 6);
    case Key::kAccess:
      return is_default || is_one_of(value, 7, 10);
    case Key::kAlignment:
      if (is_default) value = 1;
      to.alignment = value;
      return std::has_single_bit(value);
    case Key::kPoolSize:
      to.pool_bytes = is_default ? ~std::size_t{0} : value;
      return value != 0;
    case Key::kFallback:
      to.fallback = is_default ? kDefaultMemory : value;
      return is_default || is_one_of(value, kDefaultMemory, kOtherAllocator);
    case Key::kFallbackData:
      to.fallback_allocator = value;
      return true;
    case Key::kPinned:
      return value != kTrue;
    case Key::kPartition:
      to.partition = is_default ? kEnvironment : value;
      return is_default || is_one_of(value, kEnvironment, kInterleaved);
  }
  return false;
}

// 0, omp_null_allocator: there can be none with these traits.
std::uintptr_t make_allocator(std::uintptr_t space, std::int64_t count, const void* traits) {
  Allocator made;
  const auto* all = static_cast<const Trait*>(traits);
  if (space >= kMostSpaces || count < 0) return 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (!apply(made, all[i].key, all[i].value)) return 0;
  auto* kept = static_cast<Allocator*>(std::malloc(sizeof(Allocator)));
  if (kept != nullptr) *kept = made;
  return reinterpret_cast<std::uintptr_t>(kept);
}

// Scalars of Fortran with the directive `allocators`, so that `deallocate` knows whose they are.
struct Scalar {
  void* block;
  Scalar* next;
};

void add_scalar(void* block) {
  auto* scalar = static_cast<Scalar*>(std::malloc(sizeof(Scalar)));
  if (scalar == nullptr) terrane_program_fail("no memory for a variable of an OpenMP allocator");
  void** root = terrane_program_root(kProgramScalars);
  terrane_program_lock(root);
  *scalar = {block, static_cast<Scalar*>(*root)};
  *root = scalar;
  terrane_program_unlock(root);
}

bool remove_scalar(const void* block) {
  void** root = terrane_program_root(kProgramScalars);
  terrane_program_lock(root);
  Scalar* found = static_cast<Scalar*>(*root);
  Scalar* before = nullptr;
  while (found != nullptr && found->block != block) found = (before = found)->next;
  if (found != nullptr && before != nullptr) before->next = found->next;
  if (found != nullptr && before == nullptr) *root = found->next;
  terrane_program_unlock(root);
  bool is_one = found != nullptr;
  std::free(found);
  return is_one;
}

void destroy(std::uintptr_t handle) {
  if (handle > kLastPredefined) std::free(reinterpret_cast<Allocator*>(handle));
}

}  // namespace

extern "C" {

void* GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  void* block = allocate(std::max<std::size_t>(bytes, 1), alignment, handle);
  if (block == nullptr) terrane_program_fail("no memory for a variable with the clause allocate");
  return block;
}
void GOMP_free(void* block, std::uintptr_t) { free_block(block); }

// Of gcc 14.
void GOMP_add_alloc(void* block) {
  if (block != nullptr) add_scalar(block);
}
bool GOMP_is_alloc(void* block) { return remove_scalar(block); }

void* omp_alloc(std::size_t bytes, std::uintptr_t handle) { return allocate(bytes, 1, handle); }
void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t handle) {
  return std::has_single_bit(alignment) ? allocate(bytes, alignment, handle) : nullptr;
}
void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t handle) {
  return allocate_zeros(count, size, 1, handle);
}
void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                         std::uintptr_t handle) {
  return std::has_single_bit(alignment) ? allocate_zeros(count, size, alignment, handle) : nullptr;
}
void* omp_realloc(void* block, std::size_t bytes, std::uintptr_t handle, std::uintptr_t) {
  if (block == nullptr) return allocate(bytes, 1, handle);
  return reallocate(block, bytes, handle);
}
void omp_free(void* block, std::uintptr_t) { free_block(block); }

std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void* traits) {
  return make_allocator(space, count, traits);
}
std::uintptr_t omp_init_allocator_(const std::uintptr_t* space, const std::int32_t* count,
                                   const void* traits) {
  return make_allocator(*space, *count, traits);
}
std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space, const std::int64_t* count,
                                     const void* traits) {
  return make_allocator(*space, *count, traits);
}
void omp_destroy_allocator(std::uintptr_t handle) { destroy(handle); }
void omp_destroy_allocator_(const std::uintptr_t* handle) { destroy(*handle); }

}  // extern "C"
