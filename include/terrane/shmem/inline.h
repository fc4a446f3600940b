/* The fast path: single elements, small copies and atomic operations, compiled into the caller. The
 * library compiles its functions of the same names from this text. */
#ifndef TERRANE_SHMEM_INLINE_H
#define TERRANE_SHMEM_INLINE_H

#include <terrane/shmem/bodies.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERRANE_SHMEM_INLINE_RMA(D, NAME, TYPE)                                                  \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_p, (TYPE * dest, TYPE value, int pe),                   \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                  \
                            TERRANE_SHMEM_P_BODY, TYPE)                                          \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_g, (const TYPE* source, int pe),                        \
                            (shmem_ctx_t ctx, const TYPE* source, int pe), TERRANE_SHMEM_G_BODY, \
                            TYPE)                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                     \
      void, NAME##_put, (TYPE * dest, const TYPE* source, size_t nelems, int pe),                \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                 \
      TERRANE_SHMEM_COPY_BODY, put, terrane_shmem_bytes(nelems, sizeof(TYPE)))                   \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                     \
      void, NAME##_get, (TYPE * dest, const TYPE* source, size_t nelems, int pe),                \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                 \
      TERRANE_SHMEM_COPY_BODY, get, terrane_shmem_bytes(nelems, sizeof(TYPE)))

#define TERRANE_SHMEM_INLINE_RMA_OF_SIZE(D, BITS)                               \
  TERRANE_SHMEM_DEFINE_BOTH(                                                    \
      void, put##BITS, (void* dest, const void* source, size_t nelems, int pe), \
      (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe), \
      TERRANE_SHMEM_COPY_BODY, put, nelems*(BITS / 8))                          \
  TERRANE_SHMEM_DEFINE_BOTH(                                                    \
      void, get##BITS, (void* dest, const void* source, size_t nelems, int pe), \
      (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe), \
      TERRANE_SHMEM_COPY_BODY, get, nelems*(BITS / 8))

#define TERRANE_SHMEM_INLINE_STANDARD_AMO(D, NAME, TYPE)                                       \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_compare_swap,                                  \
                            (TYPE * dest, TYPE cond, TYPE value, int pe),                      \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE cond, TYPE value, int pe),     \
                            TERRANE_SHMEM_COMPARE_SWAP_BODY, TYPE)                             \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch_inc, (TYPE * dest, int pe),              \
                            (shmem_ctx_t ctx, TYPE * dest, int pe), TERRANE_SHMEM_UPDATE_BODY, \
                            return, ADD, __atomic_fetch_add, TYPE, 1)                          \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch_add, (TYPE * dest, TYPE value, int pe),  \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                \
                            TERRANE_SHMEM_UPDATE_BODY, return, ADD, __atomic_fetch_add, TYPE,  \
                            value)                                                             \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_inc, (TYPE * dest, int pe),                    \
                            (shmem_ctx_t ctx, TYPE * dest, int pe), TERRANE_SHMEM_UPDATE_BODY, \
                            (void), ADD, __atomic_fetch_add, TYPE, 1)                          \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_add, (TYPE * dest, TYPE value, int pe),        \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                \
                            TERRANE_SHMEM_UPDATE_BODY, (void), ADD, __atomic_fetch_add, TYPE,  \
                            value)

#define TERRANE_SHMEM_INLINE_EXTENDED_AMO(D, NAME, TYPE)                                 \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch, (const TYPE* source, int pe),     \
                            (shmem_ctx_t ctx, const TYPE* source, int pe),               \
                            TERRANE_SHMEM_FETCH_BODY, TYPE)                              \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_set, (TYPE * dest, TYPE value, int pe),  \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),          \
                            TERRANE_SHMEM_SET_BODY, TYPE)                                \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_swap, (TYPE * dest, TYPE value, int pe), \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),          \
                            TERRANE_SHMEM_SWAP_BODY, TYPE)

#define TERRANE_SHMEM_INLINE_BITWISE_AMO(D, NAME, TYPE)                                            \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch_and, (TYPE * dest, TYPE value, int pe),      \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, return, AND, __atomic_fetch_and, TYPE,      \
                            value)                                                                 \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_and, (TYPE * dest, TYPE value, int pe),            \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, (void), AND, __atomic_fetch_and, TYPE,      \
                            value)                                                                 \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch_or, (TYPE * dest, TYPE value, int pe),       \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, return, OR, __atomic_fetch_or, TYPE, value) \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_or, (TYPE * dest, TYPE value, int pe),             \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, (void), OR, __atomic_fetch_or, TYPE, value) \
  TERRANE_SHMEM_DEFINE_BOTH(TYPE, NAME##_atomic_fetch_xor, (TYPE * dest, TYPE value, int pe),      \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, return, XOR, __atomic_fetch_xor, TYPE,      \
                            value)                                                                 \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_xor, (TYPE * dest, TYPE value, int pe),            \
                            (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                    \
                            TERRANE_SHMEM_UPDATE_BODY, (void), XOR, __atomic_fetch_xor, TYPE,      \
                            value)

TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEM_INLINE_RMA, )
TERRANE_SHMEM_SIZES(TERRANE_SHMEM_INLINE_RMA_OF_SIZE, )
TERRANE_SHMEM_DEFINE_BOTH(void, putmem, (void* dest, const void* source, size_t nelems, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe),
                          TERRANE_SHMEM_COPY_BODY, put, nelems)
TERRANE_SHMEM_DEFINE_BOTH(void, getmem, (void* dest, const void* source, size_t nelems, int pe),
                          (shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe),
                          TERRANE_SHMEM_COPY_BODY, get, nelems)
TERRANE_SHMEM_STANDARD_AMO_TYPES(TERRANE_SHMEM_INLINE_STANDARD_AMO, )
TERRANE_SHMEM_EXTENDED_AMO_TYPES(TERRANE_SHMEM_INLINE_EXTENDED_AMO, )
TERRANE_SHMEM_BITWISE_AMO_TYPES(TERRANE_SHMEM_INLINE_BITWISE_AMO, )

#ifdef __cplusplus
}
#endif
#endif
