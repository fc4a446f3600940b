// Put, get, p, g and atomic operations, which <terrane/shmem/inline.h> defines; and the long ways
// that it calls. The specification's sections "Remote Memory Access Routines" and "Atomic Memory
// Operations".
#include <terrane/shmem/inline.h>

#include "frontend/shmem/call.h"

using terrane::frontend::shmem::Completion;
using terrane::frontend::shmem::copy;
using terrane::frontend::shmem::near_bytes;
using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::WordOp;
using terrane::frontend::shmem::WordUpdate;

static_assert(static_cast<int>(WordOp::kFetch) == TERRANE_SHMEM_FETCH &&
              static_cast<int>(WordOp::kCompareSwap) == TERRANE_SHMEM_COMPARE_SWAP &&
              static_cast<int>(WordOp::kXor) == TERRANE_SHMEM_XOR);

extern "C" {

void terrane_shmem_put(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                       const char* call) noexcept {
  if (std::byte* there = near_bytes(ctx, dest, bytes, pe)) return copy(there, source, bytes);
  operation(ctx, call).put(dest, source, bytes, pe, Completion::kBlocking);
}

void terrane_shmem_get(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                       const char* call) noexcept {
  if (std::byte* there = near_bytes(ctx, source, bytes, pe)) return copy(dest, there, bytes);
  operation(ctx, call).get(dest, source, bytes, pe, Completion::kBlocking);
}

uint64_t terrane_shmem_atomic(shmem_ctx_t ctx, enum terrane_shmem_atomic_operation what,
                              const void* object, size_t bytes, uint64_t operand, uint64_t expected,
                              int pe, const char* call) noexcept {
  WordUpdate update{static_cast<WordOp>(what), static_cast<std::uint32_t>(bytes), operand,
                    expected};
  if (what == TERRANE_SHMEM_STORE) {
    operation(ctx, call).post(const_cast<void*>(object), update, pe);
    return 0;
  }
  return operation(ctx, call).update(object, update, pe);
}

}  // extern "C"
