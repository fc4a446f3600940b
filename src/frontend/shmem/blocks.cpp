// Puts and gets of which nobody waits for the end, and of blocks at regular distances: the
// specification's sections "Non-blocking Remote Memory Access Routines" and SHMEM_IPUT to
// SHMEM_IBGET.
#include "frontend/shmem/call.h"

using terrane::frontend::shmem::Completion;
using terrane::frontend::shmem::copy;
using terrane::frontend::shmem::near_bytes;
using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::Strides;
using terrane::frontend::shmem::times;
using terrane::runtime::shmem::copy_strided;

namespace {

void put_nbi(shmem_ctx_t ctx, void* dest, const void* source, std::uint64_t bytes, int pe,
             const char* call) {
  if (auto* there = near_bytes(ctx, dest, bytes, pe)) return copy(there, source, bytes);
  operation(ctx, call).put(dest, source, bytes, pe, Completion::kNonBlocking);
}

void get_nbi(shmem_ctx_t ctx, void* dest, const void* source, std::uint64_t bytes, int pe,
             const char* call) {
  if (auto* there = near_bytes(ctx, source, bytes, pe)) return copy(dest, there, bytes);
  operation(ctx, call).get(dest, source, bytes, pe, Completion::kNonBlocking);
}

// From elements to bytes; too many, or a distance backwards, stay wrong.
Strides strides(ptrdiff_t dst, ptrdiff_t sst, std::uint64_t element, std::uint64_t block,
                std::uint64_t count) {
  auto distance = [element](ptrdiff_t elements) {
    return elements < 0 ? elements : static_cast<ptrdiff_t>(times(elements, element));
  };
  return {distance(dst), distance(sst), times(block, element), count};
}

bool forward(const Strides& strides) {
  auto block = static_cast<ptrdiff_t>(strides.block);
  return strides.to >= block && strides.from >= block;
}

void strided_put(shmem_ctx_t ctx, void* dest, const void* source, const Strides& strides, int pe,
                 const char* call) {
  auto* there = near_bytes(ctx, dest, strides.span(strides.to), pe);
  if (there == nullptr || !forward(strides)) {
    return operation(ctx, call).put_strided(dest, source, strides, pe);
  }
  if (strides.payload() != 0) copy_strided(there, static_cast<const std::byte*>(source), strides);
}

void strided_get(shmem_ctx_t ctx, void* dest, const void* source, const Strides& strides, int pe,
                 const char* call) {
  auto* there = near_bytes(ctx, source, strides.span(strides.from), pe);
  if (there == nullptr || !forward(strides)) {
    return operation(ctx, call).get_strided(dest, source, strides, pe);
  }
  if (strides.payload() != 0) copy_strided(static_cast<std::byte*>(dest), there, strides);
}

}  // namespace

#define PUT_NBI_BODY(CTX, BYTES, CALL) \
  { put_nbi(CTX, dest, source, BYTES, pe, CALL); }
#define GET_NBI_BODY(CTX, BYTES, CALL) \
  { get_nbi(CTX, dest, source, BYTES, pe, CALL); }
#define STRIDED_PUT_BODY(CTX, ELEMENT, BLOCK, COUNT, CALL) \
  { strided_put(CTX, dest, source, strides(dst, sst, ELEMENT, BLOCK, COUNT), pe, CALL); }
#define STRIDED_GET_BODY(CTX, ELEMENT, BLOCK, COUNT, CALL) \
  { strided_get(CTX, dest, source, strides(dst, sst, ELEMENT, BLOCK, COUNT), pe, CALL); }

#define BLOCKS_OF_TYPE(D, NAME, TYPE)                                                          \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                   \
      void, NAME##_put_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe),          \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe), PUT_NBI_BODY, \
      times(nelems, sizeof(TYPE)))                                                             \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                   \
      void, NAME##_get_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe),          \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe), GET_NBI_BODY, \
      times(nelems, sizeof(TYPE)))                                                             \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                   \
      void, NAME##_iput,                                                                       \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),  \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,         \
       size_t nelems, int pe),                                                                 \
      STRIDED_PUT_BODY, sizeof(TYPE), 1, nelems)                                               \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_ibput,                                                \
                            (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,    \
                             size_t bsize, size_t nblocks, int pe),                            \
                            (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst,  \
                             ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),             \
                            STRIDED_PUT_BODY, sizeof(TYPE), bsize, nblocks)                    \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                   \
      void, NAME##_iget,                                                                       \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),  \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,         \
       size_t nelems, int pe),                                                                 \
      STRIDED_GET_BODY, sizeof(TYPE), 1, nelems)                                               \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_ibget,                                                \
                            (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,    \
                             size_t bsize, size_t nblocks, int pe),                            \
                            (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst,  \
                             ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),             \
                            STRIDED_GET_BODY, sizeof(TYPE), bsize, nblocks)

#define BLOCKS_OF_SIZE(D, BITS)                                                               \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                  \
      void, put##BITS##_nbi, (void* dest, const void* source, size_t nelems, int pe),         \
      (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe), PUT_NBI_BODY, \
      times(nelems, BITS / 8))                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                  \
      void, get##BITS##_nbi, (void* dest, const void* source, size_t nelems, int pe),         \
      (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe), GET_NBI_BODY, \
      times(nelems, BITS / 8))                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                  \
      void, iput##BITS,                                                                       \
      (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),  \
      (shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,         \
       size_t nelems, int pe),                                                                \
      STRIDED_PUT_BODY, BITS / 8, 1, nelems)                                                  \
  TERRANE_SHMEM_DEFINE_BOTH(void, ibput##BITS,                                                \
                            (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,    \
                             size_t bsize, size_t nblocks, int pe),                           \
                            (shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst,  \
                             ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),            \
                            STRIDED_PUT_BODY, BITS / 8, bsize, nblocks)                       \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                  \
      void, iget##BITS,                                                                       \
      (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),  \
      (shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,         \
       size_t nelems, int pe),                                                                \
      STRIDED_GET_BODY, BITS / 8, 1, nelems)                                                  \
  TERRANE_SHMEM_DEFINE_BOTH(void, ibget##BITS,                                                \
                            (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,    \
                             size_t bsize, size_t nblocks, int pe),                           \
                            (shmem_ctx_t ctx, void* dest, const void* source, ptrdiff_t dst,  \
                             ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),            \
                            STRIDED_GET_BODY, BITS / 8, bsize, nblocks)

extern "C" {

TERRANE_SHMEM_RMA_TYPES(BLOCKS_OF_TYPE, )
TERRANE_SHMEM_SIZES(BLOCKS_OF_SIZE, )
TERRANE_SHMEM_DEFINE_BOTH(void, putmem_nbi, (void* dest, const void* source, size_t nelems, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe),
                          PUT_NBI_BODY, nelems)
TERRANE_SHMEM_DEFINE_BOTH(void, getmem_nbi, (void* dest, const void* source, size_t nelems, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe),
                          GET_NBI_BODY, nelems)

}  // extern "C"
