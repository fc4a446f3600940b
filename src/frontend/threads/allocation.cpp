// malloc and its kin: what the program allocates lies in the shared heap, what the C library and
// other libraries allocate for themselves is private. The caller decides which of the two.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"
#include "frontend/threads/node_memory.h"
#include "frontend/threads/noted_blocks.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"
#include "platform/signal_text.h"

// The C library's own, also before anything can be looked up.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
}

using namespace terrane::frontend;
using namespace terrane::frontend::threads;

namespace {

// Of a call from that address: the heap, or nullptr where its memory is to be private.
terrane::runtime::Heap* heap_for(const void* caller) {
  Program* program = Program::get();
  if (program == nullptr || !is_in_program()) return nullptr;
  bool shared = Allocating::now() == Allocates::kForCaller || program->allocates_shared(caller);
  return shared ? &program->heap() : nullptr;
}

// Private memory; that of streams of the program lies apart. A library may open a stream of its own
// in an operation of the node.
void* private_block(size_t bytes) {
  bool apart =
      Allocating::now() == Allocates::kForNode && Program::get() != nullptr && is_in_program();
  void* block = apart ? node_memory::allocate(bytes) : nullptr;
  return block != nullptr ? block : __libc_malloc(bytes);
}

bool is_shared(const void* block) { return SharedRange::contains(block); }

[[noreturn]] void refuse(const char* call, const void* block) {
  terrane::platform::SignalText text;
  text.add("terrane: ").add(call).add(": ").add_hex(reinterpret_cast<std::uintptr_t>(block));
  text.add(" is no block of the program's heap, or was freed already\n").write_to_stderr();
  ::abort();
}

void* or_no_memory(void* block) {
  if (block == nullptr) errno = ENOMEM;
  return block;
}

// A block that the heap has given to a caller, or nullptr.
void* given(void* block, size_t bytes, const void* caller) {
  if (block == nullptr) return or_no_memory(block);
  if (notes_blocks()) note_block(block, bytes, caller);
  return block;
}

void* aligned(const void* caller, size_t alignment, size_t bytes) {
  if (auto* heap = heap_for(caller)) return given(heap->allocate(bytes, alignment), bytes, caller);
  return __libc_memalign(alignment, bytes);
}

}  // namespace

#define TERRANE_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

void* malloc(size_t bytes) noexcept {
  auto* heap = heap_for(TERRANE_CALLER);
  return heap == nullptr ? private_block(bytes)
                         : given(heap->allocate(bytes), bytes, TERRANE_CALLER);
}

void* calloc(size_t count, size_t size) noexcept {
  auto* heap = heap_for(TERRANE_CALLER);
  bool apart = heap == nullptr && Allocating::now() == Allocates::kForNode;
  if (heap == nullptr && !apart) return __libc_calloc(count, size);
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return or_no_memory(nullptr);
  if (heap != nullptr) return given(heap->allocate_zeroed(bytes), bytes, TERRANE_CALLER);
  void* block = private_block(bytes);
  return block == nullptr ? or_no_memory(block) : std::memset(block, 0, bytes);
}

void free(void* block) noexcept {
  if (!is_shared(block))
    return node_memory::contains(block) ? node_memory::free(block) : __libc_free(block);
  if (!Program::get()->heap().free(block)) refuse("free", block);
}

void* realloc(void* block, size_t bytes) noexcept {
  if (block == nullptr) {
    auto* heap = heap_for(TERRANE_CALLER);
    return heap == nullptr ? __libc_malloc(bytes)
                           : given(heap->allocate(bytes), bytes, TERRANE_CALLER);
  }
  if (node_memory::contains(block)) {
    void* moved = __libc_malloc(bytes);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, block, std::min(bytes, node_memory::bytes_of(block)));
    node_memory::free(block);
    return moved;
  }
  if (!is_shared(block)) return __libc_realloc(block, bytes);
  if (bytes != 0) return given(Program::get()->heap().resize(block, bytes), bytes, TERRANE_CALLER);
  if (!Program::get()->heap().free(block)) refuse("realloc", block);
  return nullptr;
}

void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return or_no_memory(nullptr);
  if (block != nullptr) return realloc(block, bytes);
  auto* heap = heap_for(TERRANE_CALLER);
  return heap == nullptr ? __libc_malloc(bytes)
                         : given(heap->allocate(bytes), bytes, TERRANE_CALLER);
}

void* memalign(size_t alignment, size_t bytes) noexcept {
  return aligned(TERRANE_CALLER, std::bit_ceil(alignment), bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return aligned(TERRANE_CALLER, std::bit_ceil(alignment), bytes);
}

int posix_memalign(void** out, size_t alignment, size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || !std::has_single_bit(alignment)) return EINVAL;
  int before = errno;
  void* block = aligned(TERRANE_CALLER, alignment, bytes);
  errno = before;
  if (block == nullptr) return ENOMEM;
  *out = block;
  return 0;
}

void* valloc(size_t bytes) noexcept {
  return aligned(TERRANE_CALLER, terrane::platform::page_bytes(), bytes);
}

void* pvalloc(size_t bytes) noexcept {
  size_t page = terrane::platform::page_bytes();
  return aligned(TERRANE_CALLER, page, (bytes + page - 1) / page * page);
}

size_t malloc_usable_size(void* block) noexcept {
  if (is_shared(block)) return Program::get()->heap().bytes_of(block);
  if (node_memory::contains(block)) return node_memory::bytes_of(block);
  return next<"malloc_usable_size">(::malloc_usable_size)(block);
}

}  // extern "C"
#pragma GCC visibility pop
