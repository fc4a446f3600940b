// Memory, threadprivate variables, and what is asked of the library itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "frontend/omp/kmp/abi.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;
using namespace terrane::frontend::omp::kmp;

namespace {

constexpr int kInfinite = INT32_MAX;  // of a waiting time in ms

// The calling thread's copies of variables that are threadprivate by a call, by their addresses.
std::unordered_map<void*, void*>& own_copies() {
  static thread_local std::unordered_map<void*, void*> copies;
  return copies;
}

// What a variable was when the program asked for it first, by the address of the compiler's cache
// of it, where a pointer to it is.
const void* first_value(void* variable, std::size_t bytes, void*** cache) {
  terrane_program_lock(cache);
  if (*cache == nullptr) {
    void* copy = std::malloc(bytes);
    if (copy == nullptr) terrane_program_fail("no memory for a threadprivate variable");
    std::memcpy(copy, variable, bytes);
    *cache = static_cast<void**>(copy);
  }
  const void* value = *cache;
  terrane_program_unlock(cache);
  return value;
}

}  // namespace

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

// The calling thread's own variable; that of main's thread is the variable itself.
void* __kmpc_threadprivate_cached(const Ident*, Gtid, void* variable, std::size_t bytes,
                                  void*** cache) {
  const void* value = first_value(variable, bytes, cache);
  if (terrane_program_is_main()) return variable;
  void*& own = own_copies()[variable];
  if (own == nullptr) {
    own = std::malloc(bytes);
    if (own == nullptr) terrane_program_fail("no memory for a threadprivate variable");
    std::memcpy(own, value, bytes);
  }
  return own;
}
void __kmpc_threadprivate_register(const Ident*, void*, void*, void*, void*) {
  fail_unserved("__kmpc_threadprivate_register (a threadprivate variable with a constructor)");
}

void kmp_set_blocktime(int) {}
int kmp_get_blocktime() { return kInfinite; }
void kmp_set_stacksize_s(std::size_t) {}
void kmp_set_library(int) {}
void kmp_set_defaults(const char*) {}
void kmp_set_warnings_on() {}
void kmp_set_warnings_off() {}
void* kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
void* kmp_calloc(std::size_t count, std::size_t bytes) { return std::calloc(count, bytes); }
void* kmp_realloc(void* memory, std::size_t bytes) { return std::realloc(memory, bytes); }
void kmp_free(void* memory) { std::free(memory); }

}  // extern "C"
