// What this library itself allocates by new is private. Hidden: the program has its own.
#include <cstdlib>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

void* checked(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

std::size_t number(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

void* operator new(std::size_t bytes) { return checked(__libc_malloc(bytes)); }
void* operator new[](std::size_t bytes) { return checked(__libc_malloc(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return __libc_malloc(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return __libc_malloc(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return checked(__libc_memalign(number(alignment), bytes));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return checked(__libc_memalign(number(alignment), bytes));
}
// What libstdc++ has allocated for us in the program's name may be shared.
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
