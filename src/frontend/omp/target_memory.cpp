// Memory of devices, of which the host is the only one: all of it is the program's.
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "frontend/omp/late_tasks.h"

using namespace terrane::frontend::omp;

namespace {

// An array as a copy of a part of it sees it.
struct Part {
  std::byte* begin;
  const std::size_t* offsets;
  const std::size_t* extents;
};

struct Box {
  std::size_t element_bytes;
  const std::size_t* lengths;
};

// Copies a box of so many dimensions. EINVAL: a number does not fit into an address.
int copy_box(const Box& box, std::size_t dimensions, Part to, Part from) {
  if (dimensions == 1) {
    std::size_t bytes = 0, to_offset = 0, from_offset = 0;
    if (__builtin_mul_overflow(box.element_bytes, box.lengths[0], &bytes) ||
        __builtin_mul_overflow(box.element_bytes, to.offsets[0], &to_offset) ||
        __builtin_mul_overflow(box.element_bytes, from.offsets[0], &from_offset))
      return EINVAL;
    std::memmove(to.begin + to_offset, from.begin + from_offset, bytes);
    return 0;
  }
  std::size_t to_slice = box.element_bytes, from_slice = box.element_bytes;
  for (std::size_t i = 1; i < dimensions; ++i)
    if (__builtin_mul_overflow(to_slice, to.extents[i], &to_slice) ||
        __builtin_mul_overflow(from_slice, from.extents[i], &from_slice))
      return EINVAL;
  for (std::size_t i = 0; i < box.lengths[0]; ++i) {
    std::size_t to_offset = 0, from_offset = 0;
    if (__builtin_mul_overflow(to_slice, to.offsets[0] + i, &to_offset) ||
        __builtin_mul_overflow(from_slice, from.offsets[0] + i, &from_offset))
      return EINVAL;
    int error = copy_box({box.element_bytes, box.lengths + 1}, dimensions - 1,
                         {to.begin + to_offset, to.offsets + 1, to.extents + 1},
                         {from.begin + from_offset, from.offsets + 1, from.extents + 1});
    if (error != 0) return error;
  }
  return 0;
}

// Waits for what the objects depend on, which the compiler's lists have behind five numbers.
void await_objects(int count, void** objects) {
  if (count <= 0 || objects == nullptr) return;
  constexpr std::size_t kNumbers = 5, kWordsOfObject = 2;
  std::vector<void*> list(kNumbers);
  list[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(count));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    list.push_back(objects + kWordsOfObject * i);
  await_dependences(list.data());
}

}  // namespace

extern "C" {

void* omp_target_alloc(std::size_t bytes, int) { return bytes == 0 ? nullptr : std::malloc(bytes); }
void omp_target_free(void* block, int) { std::free(block); }
int omp_target_is_present(const void*, int) { return 1; }
int omp_target_is_accessible(const void*, std::size_t, int) { return 1; }
void* omp_get_mapped_ptr(const void* block, int) { return const_cast<void*>(block); }

// Nothing is mapped, and so nothing can be associated.
int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) {
  return EINVAL;
}
int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }

int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                      std::size_t from_offset, int, int) {
  std::memmove(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
               bytes);
  return 0;
}

int omp_target_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                            std::size_t from_offset, int to_device, int from_device, int count,
                            void** objects) {
  await_objects(count, objects);
  return omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}

// Without arrays: how many dimensions they may have.
int omp_target_memcpy_rect(void* to, const void* from, std::size_t element_bytes, int dimensions,
                           const std::size_t* lengths, const std::size_t* to_offsets,
                           const std::size_t* from_offsets, const std::size_t* to_extents,
                           const std::size_t* from_extents, int, int) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  if (dimensions < 1) return EINVAL;
  auto* source = static_cast<std::byte*>(const_cast<void*>(from));
  return copy_box({element_bytes, lengths}, static_cast<std::size_t>(dimensions),
                  {static_cast<std::byte*>(to), to_offsets, to_extents},
                  {source, from_offsets, from_extents});
}

int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element_bytes,
                                 int dimensions, const std::size_t* lengths,
                                 const std::size_t* to_offsets, const std::size_t* from_offsets,
                                 const std::size_t* to_extents, const std::size_t* from_extents,
                                 int to_device, int from_device, int count, void** objects) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  await_objects(count, objects);
  return omp_target_memcpy_rect(to, from, element_bytes, dimensions, lengths, to_offsets,
                                from_offsets, to_extents, from_extents, to_device, from_device);
}

}  // extern "C"
