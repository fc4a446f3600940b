// Memory of allocators.
#include <cstddef>
#include <cstdint>

#include "frontend/omp/kmp/abi.h"

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

extern "C" {

std::uintptr_t omp_init_allocator(std::uintptr_t space, int count, const void* traits);
void omp_destroy_allocator(std::uintptr_t allocator);
void* omp_alloc(std::size_t bytes, std::uintptr_t allocator);
void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator);
void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t allocator);
void* omp_realloc(void* memory, std::size_t bytes, std::uintptr_t to, std::uintptr_t from);
void omp_free(void* memory, std::uintptr_t allocator);
void omp_set_default_allocator(std::size_t allocator);
std::size_t omp_get_default_allocator();

std::uintptr_t __kmpc_init_allocator(Gtid, std::uintptr_t space, int count, const void* traits) {
  return omp_init_allocator(space, count, traits);
}
void __kmpc_destroy_allocator(Gtid, std::uintptr_t allocator) { omp_destroy_allocator(allocator); }
void __kmpc_set_default_allocator(Gtid, std::uintptr_t allocator) {
  omp_set_default_allocator(allocator);
}
std::uintptr_t __kmpc_get_default_allocator(Gtid) { return omp_get_default_allocator(); }
void* __kmpc_alloc(Gtid, std::size_t bytes, std::uintptr_t allocator) {
  return omp_alloc(bytes, allocator);
}
void* __kmpc_aligned_alloc(Gtid, std::size_t alignment, std::size_t bytes,
                           std::uintptr_t allocator) {
  return omp_aligned_alloc(alignment, bytes, allocator);
}
void* __kmpc_calloc(Gtid, std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  return omp_calloc(count, bytes, allocator);
}
void* __kmpc_realloc(Gtid, void* memory, std::size_t bytes, std::uintptr_t to,
                     std::uintptr_t from) {
  return omp_realloc(memory, bytes, to, from);
}
void __kmpc_free(Gtid, void* memory, std::uintptr_t allocator) { omp_free(memory, allocator); }

}  // extern "C"
