/* Bodies of calls on memory in reach, as loads and stores. Whatever is not plain (a PE of another
 * host, an address that is not symmetric, calls that are to be checked) goes the long way into the
 * library. The library makes its own functions of these too, so that both do the same. */
#ifndef TERRANE_SHMEM_BODIES_H
#define TERRANE_SHMEM_BODIES_H

#include <string.h>
#include <terrane/shmem/fast.h>
#include <terrane/shmem/functions.h>

#ifndef TERRANE_SHMEM_LINKAGE
#define TERRANE_SHMEM_LINKAGE extern __inline __attribute__((__always_inline__, __gnu_inline__))
#endif
#define TERRANE_SHMEM_HELPER extern __inline __attribute__((__always_inline__, __gnu_inline__))

/* Copies of at most so many bytes are made in the caller: by loads and stores, if the compiler
 * knows how many, or else by memcpy. The library knows better for longer ones. */
#define TERRANE_SHMEM_SMALL_BYTES 64
#define TERRANE_SHMEM_MEMCPY_BYTES 16384

#ifdef __cplusplus
extern "C" {
#endif

/* The long ways. `call` is the name that the program used. */
void terrane_shmem_put(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                       const char* call) TERRANE_SHMEM_NOEXCEPT;
void terrane_shmem_get(shmem_ctx_t ctx, void* dest, const void* source, size_t bytes, int pe,
                       const char* call) TERRANE_SHMEM_NOEXCEPT;
/* In the order of runtime::shmem::WordOp. */
enum terrane_shmem_atomic_operation {
  TERRANE_SHMEM_FETCH,
  TERRANE_SHMEM_STORE,
  TERRANE_SHMEM_SWAP,
  TERRANE_SHMEM_COMPARE_SWAP,
  TERRANE_SHMEM_ADD,
  TERRANE_SHMEM_AND,
  TERRANE_SHMEM_OR,
  TERRANE_SHMEM_XOR
};
/* Operands and result are the values' bits, in as many bytes as the type has: 4 or 8. */
uint64_t terrane_shmem_atomic(shmem_ctx_t ctx, enum terrane_shmem_atomic_operation operation,
                              const void* object, size_t bytes, uint64_t operand, uint64_t expected,
                              int pe, const char* call) TERRANE_SHMEM_NOEXCEPT;

/* Where the object of ours at `address` lies at a PE of the world; null: go the long way. */
TERRANE_SHMEM_HELPER void* terrane_shmem_near(const void* address, int pe) {
  const struct terrane_shmem_fast* fast = &terrane_shmem_fast;
  uintptr_t here = (uintptr_t)address;
  ptrdiff_t delta;
  if ((uint32_t)pe >= fast->pes) return NULL;
  if (__builtin_expect(here - fast->heap_base < fast->heap_bytes, 1)) {
    delta = fast->heap_delta[pe];
  } else if (here - fast->statics_base < fast->statics_bytes) {
    delta = fast->statics_delta[pe];
  } else {
    return NULL;
  }
  return __builtin_expect(delta == TERRANE_SHMEM_FAR, 0) ? NULL : (void*)(here + (uintptr_t)delta);
}

/* The same for `bytes` of ours from `address` on, if memcpy is to copy them. */
TERRANE_SHMEM_HELPER void* terrane_shmem_near_block(const void* address, size_t bytes, int pe) {
  const struct terrane_shmem_fast* fast = &terrane_shmem_fast;
  uintptr_t offset = (uintptr_t)address - fast->heap_base;
  uintptr_t end = fast->heap_bytes;
  const ptrdiff_t* deltas = fast->heap_delta;
  if ((uint32_t)pe >= fast->pes || bytes - 1 >= TERRANE_SHMEM_MEMCPY_BYTES) return NULL;
  if (__builtin_expect(offset >= end, 0)) {
    offset = (uintptr_t)address - fast->statics_base;
    end = fast->statics_bytes;
    deltas = fast->statics_delta;
  }
  if (offset >= end || bytes > end - offset || deltas[pe] == TERRANE_SHMEM_FAR) return NULL;
  return (void*)((uintptr_t)address + (uintptr_t)deltas[pe]);
}

/* The PE of the world that is number `pe` of the context's team; -1: go the long way. */
TERRANE_SHMEM_HELPER int terrane_shmem_world_pe(shmem_ctx_t ctx, int pe) {
  if (ctx == SHMEM_CTX_DEFAULT) return pe;
  if (terrane_shmem_fast.pes == 0 || ctx == SHMEM_CTX_INVALID) return -1;
  if ((uint32_t)pe >= ctx->size) return -1;
  return (int)ctx->start + pe * ctx->stride;
}

/* The bytes of so many elements; more than any memory where that cannot be counted. */
TERRANE_SHMEM_HELPER size_t terrane_shmem_bytes(size_t nelems, size_t element) {
  return nelems > PTRDIFF_MAX / element ? PTRDIFF_MAX : nelems * element;
}

/* A value's bits and back: C has no other way that keeps types apart. */
#define TERRANE_SHMEM_BITS(TYPE, VALUE)                  \
  __extension__({                                        \
    TYPE terrane_value = (VALUE);                        \
    uint64_t terrane_bits = 0;                           \
    memcpy(&terrane_bits, &terrane_value, sizeof(TYPE)); \
    terrane_bits;                                        \
  })
#define TERRANE_SHMEM_VALUE(TYPE, BITS)                  \
  __extension__({                                        \
    uint64_t terrane_bits = (BITS);                      \
    TYPE terrane_value;                                  \
    memcpy(&terrane_value, &terrane_bits, sizeof(TYPE)); \
    terrane_value;                                       \
  })
#define TERRANE_SHMEM_THERE(TYPE, CTX, OBJECT) \
  TYPE* there = (TYPE*)terrane_shmem_near(OBJECT, terrane_shmem_world_pe(CTX, pe))
#define TERRANE_SHMEM_LONG_WAY(CTX, OPERATION, OBJECT, TYPE, OPERAND, EXPECTED, CALL)           \
  terrane_shmem_atomic(CTX, TERRANE_SHMEM_##OPERATION, OBJECT, sizeof(TYPE), OPERAND, EXPECTED, \
                       pe, CALL)

/* Bodies. Volatile, since another PE may change what is read: a loop must read anew. */
#define TERRANE_SHMEM_P_BODY(CTX, TYPE, CALL)                      \
  {                                                                \
    TERRANE_SHMEM_THERE(TYPE, CTX, dest);                          \
    if (__builtin_expect(there != NULL, 1)) {                      \
      *(volatile TYPE*)there = value;                              \
    } else {                                                       \
      TYPE copy = value;                                           \
      terrane_shmem_put(CTX, dest, &copy, sizeof(TYPE), pe, CALL); \
    }                                                              \
  }
#define TERRANE_SHMEM_G_BODY(CTX, TYPE, CALL)                              \
  {                                                                        \
    TERRANE_SHMEM_THERE(TYPE, CTX, source);                                \
    if (__builtin_expect(there != NULL, 1)) return *(volatile TYPE*)there; \
    {                                                                      \
      TYPE copy;                                                           \
      terrane_shmem_get(CTX, &copy, source, sizeof(TYPE), pe, CALL);       \
      return copy;                                                         \
    }                                                                      \
  }
#define TERRANE_SHMEM_COPY_BODY(CTX, WAY, BYTES, CALL)                                           \
  {                                                                                              \
    const size_t bytes = (BYTES);                                                                \
    const int world_pe = terrane_shmem_world_pe(CTX, pe);                                        \
    void* there = __builtin_constant_p(bytes) && bytes <= TERRANE_SHMEM_SMALL_BYTES              \
                      ? terrane_shmem_near(TERRANE_SHMEM_FAR_SIDE_##WAY, world_pe)               \
                      : terrane_shmem_near_block(TERRANE_SHMEM_FAR_SIDE_##WAY, bytes, world_pe); \
    if (__builtin_expect(there != NULL, 1)) {                                                    \
      __asm__ __volatile__("" ::: "memory");                                                     \
      TERRANE_SHMEM_COPY_##WAY(bytes);                                                           \
      __asm__ __volatile__("" ::: "memory");                                                     \
    } else {                                                                                     \
      terrane_shmem_##WAY(CTX, dest, source, bytes, pe, CALL);                                   \
    }                                                                                            \
  }
#define TERRANE_SHMEM_FAR_SIDE_put dest
#define TERRANE_SHMEM_FAR_SIDE_get source
#define TERRANE_SHMEM_COPY_put(BYTES) memcpy(there, source, BYTES)
#define TERRANE_SHMEM_COPY_get(BYTES) memcpy(dest, there, BYTES)

#define TERRANE_SHMEM_FETCH_BODY(CTX, TYPE, CALL)                                             \
  {                                                                                           \
    TERRANE_SHMEM_THERE(TYPE, CTX, source);                                                   \
    if (__builtin_expect(there != NULL, 1)) {                                                 \
      TYPE value;                                                                             \
      __atomic_load(there, &value, __ATOMIC_RELAXED);                                         \
      return value;                                                                           \
    }                                                                                         \
    return TERRANE_SHMEM_VALUE(TYPE,                                                          \
                               TERRANE_SHMEM_LONG_WAY(CTX, FETCH, source, TYPE, 0, 0, CALL)); \
  }
#define TERRANE_SHMEM_SET_BODY(CTX, TYPE, CALL)                                                 \
  {                                                                                             \
    TERRANE_SHMEM_THERE(TYPE, CTX, dest);                                                       \
    if (__builtin_expect(there != NULL, 1)) {                                                   \
      __atomic_store(there, &value, __ATOMIC_RELAXED);                                          \
    } else {                                                                                    \
      TERRANE_SHMEM_LONG_WAY(CTX, STORE, dest, TYPE, TERRANE_SHMEM_BITS(TYPE, value), 0, CALL); \
    }                                                                                           \
  }
#define TERRANE_SHMEM_SWAP_BODY(CTX, TYPE, CALL)                                                  \
  {                                                                                               \
    TERRANE_SHMEM_THERE(TYPE, CTX, dest);                                                         \
    if (__builtin_expect(there != NULL, 1)) {                                                     \
      TYPE old;                                                                                   \
      __atomic_exchange(there, &value, &old, __ATOMIC_SEQ_CST);                                   \
      return old;                                                                                 \
    }                                                                                             \
    return TERRANE_SHMEM_VALUE(                                                                   \
        TYPE,                                                                                     \
        TERRANE_SHMEM_LONG_WAY(CTX, SWAP, dest, TYPE, TERRANE_SHMEM_BITS(TYPE, value), 0, CALL)); \
  }
#define TERRANE_SHMEM_COMPARE_SWAP_BODY(CTX, TYPE, CALL)                                       \
  {                                                                                            \
    TERRANE_SHMEM_THERE(TYPE, CTX, dest);                                                      \
    if (__builtin_expect(there != NULL, 1)) {                                                  \
      TYPE old = cond;                                                                         \
      __atomic_compare_exchange_n(there, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
      return old;                                                                              \
    }                                                                                          \
    return TERRANE_SHMEM_VALUE(                                                                \
        TYPE,                                                                                  \
        TERRANE_SHMEM_LONG_WAY(CTX, COMPARE_SWAP, dest, TYPE, TERRANE_SHMEM_BITS(TYPE, value), \
                               TERRANE_SHMEM_BITS(TYPE, cond), CALL));                         \
  }
/* FETCH is `return` where the old value is wanted, `(void)` where not. */
#define TERRANE_SHMEM_UPDATE_BODY(CTX, FETCH, OPERATION, BUILTIN, TYPE, OPERAND, CALL) \
  {                                                                                    \
    TERRANE_SHMEM_THERE(TYPE, CTX, dest);                                              \
    if (__builtin_expect(there != NULL, 1)) {                                          \
      FETCH BUILTIN(there, OPERAND, __ATOMIC_SEQ_CST);                                 \
    } else {                                                                           \
      FETCH TERRANE_SHMEM_VALUE(                                                       \
          TYPE, TERRANE_SHMEM_LONG_WAY(CTX, OPERATION, dest, TYPE,                     \
                                       TERRANE_SHMEM_BITS(TYPE, OPERAND), 0, CALL));   \
    }                                                                                  \
  }

/* A function and the one with a context, of the same body */
#define TERRANE_SHMEM_DEFINE_BOTH(RETURNS, NAME, PARAMETERS, CTX_PARAMETERS, BODY, ...)    \
  TERRANE_SHMEM_LINKAGE RETURNS shmem_##NAME PARAMETERS TERRANE_SHMEM_NOEXCEPT BODY(       \
      SHMEM_CTX_DEFAULT, __VA_ARGS__, "shmem_" #NAME)                                      \
      TERRANE_SHMEM_LINKAGE RETURNS shmem_ctx_##NAME CTX_PARAMETERS TERRANE_SHMEM_NOEXCEPT \
      BODY(ctx, __VA_ARGS__, "shmem_ctx_" #NAME)

#ifdef __cplusplus
}
#endif
#endif
