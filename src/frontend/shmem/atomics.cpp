// Atomic operations of which nobody waits for the result, and those under their names of before
// 1.4: the specification's section "Atomic Memory Operations". The others are in transfer.cpp.
#include "frontend/shmem/call.h"

using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::WordOp;
using terrane::frontend::shmem::WordUpdate;

namespace {

template <typename T>
WordUpdate word_update(WordOp op, T operand, T expected) {
  WordUpdate update{op, sizeof(T), 0, 0};
  std::memcpy(&update.operand, &operand, sizeof(T));
  std::memcpy(&update.expected, &expected, sizeof(T));
  return update;
}

}  // namespace

#define NBI_BODY(CTX, TYPE, OP, OBJECT, OPERAND, EXPECTED, CALL)    \
  {                                                                 \
    auto update = word_update<TYPE>(WordOp::OP, OPERAND, EXPECTED); \
    operation(CTX, CALL).update_nbi(fetch, OBJECT, update, pe);     \
  }

#define STANDARD_NBI(D, NAME, TYPE)                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                       \
      void, NAME##_atomic_compare_swap_nbi,                                                        \
      (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe),                                  \
      (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe), NBI_BODY, TYPE, \
      kCompareSwap, dest, value, cond)                                                             \
  TERRANE_SHMEM_DEFINE_BOTH(                                                                       \
      void, NAME##_atomic_fetch_inc_nbi, (TYPE * fetch, TYPE * dest, int pe),                      \
      (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, int pe), NBI_BODY, TYPE, kAdd, dest, 1, 0)      \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_fetch_add_nbi,                                     \
                            (TYPE * fetch, TYPE * dest, TYPE value, int pe),                       \
                            (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe),      \
                            NBI_BODY, TYPE, kAdd, dest, value, 0)

#define EXTENDED_NBI(D, NAME, TYPE)                                                                \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_fetch_nbi,                                         \
                            (TYPE * fetch, const TYPE* source, int pe),                            \
                            (shmem_ctx_t ctx, TYPE * fetch, const TYPE* source, int pe), NBI_BODY, \
                            TYPE, kFetch, source, 0, 0)                                            \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_swap_nbi,                                          \
                            (TYPE * fetch, TYPE * dest, TYPE value, int pe),                       \
                            (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe),      \
                            NBI_BODY, TYPE, kSwap, dest, value, 0)

#define BITWISE_NBI(D, NAME, TYPE)                                                            \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_fetch_and_nbi,                                \
                            (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                            (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                            NBI_BODY, TYPE, kAnd, dest, value, 0)                             \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_fetch_or_nbi,                                 \
                            (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                            (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                            NBI_BODY, TYPE, kOr, dest, value, 0)                              \
  TERRANE_SHMEM_DEFINE_BOTH(void, NAME##_atomic_fetch_xor_nbi,                                \
                            (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                            (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                            NBI_BODY, TYPE, kXor, dest, value, 0)

#define OLD_ATOMICS(D, NAME, TYPE)                                                                \
  TERRANE_SHMEM_LINKAGE TYPE shmem_##NAME##_cswap(                                                \
      TYPE* dest, TYPE cond, TYPE value,                                                          \
      int pe) noexcept TERRANE_SHMEM_COMPARE_SWAP_BODY(SHMEM_CTX_DEFAULT, TYPE,                   \
                                                       "shmem_" #NAME "_cswap")                   \
      TERRANE_SHMEM_LINKAGE TYPE shmem_##NAME##_finc(                                             \
          TYPE* dest, int pe) noexcept TERRANE_SHMEM_UPDATE_BODY(SHMEM_CTX_DEFAULT, return, ADD,  \
                                                                 __atomic_fetch_add, TYPE, 1,     \
                                                                 "shmem_" #NAME "_finc")          \
          TERRANE_SHMEM_LINKAGE void shmem_##NAME##_inc(                                          \
              TYPE* dest, int pe) noexcept TERRANE_SHMEM_UPDATE_BODY(SHMEM_CTX_DEFAULT, (void),   \
                                                                     ADD, __atomic_fetch_add,     \
                                                                     TYPE, 1,                     \
                                                                     "shmem_" #NAME "_inc")       \
              TERRANE_SHMEM_LINKAGE TYPE shmem_##NAME##_fadd(                                     \
                  TYPE* dest, TYPE value,                                                         \
                  int pe) noexcept TERRANE_SHMEM_UPDATE_BODY(SHMEM_CTX_DEFAULT, return, ADD,      \
                                                             __atomic_fetch_add, TYPE, value,     \
                                                             "shmem_" #NAME "_fadd")              \
                  TERRANE_SHMEM_LINKAGE void shmem_##NAME##_add(                                  \
                      TYPE* dest, TYPE value,                                                     \
                      int pe) noexcept TERRANE_SHMEM_UPDATE_BODY(SHMEM_CTX_DEFAULT, (void), ADD,  \
                                                                 __atomic_fetch_add, TYPE, value, \
                                                                 "shmem_" #NAME "_add")

#define OLD_EXTENDED_ATOMICS(D, NAME, TYPE)                                                        \
  TERRANE_SHMEM_LINKAGE TYPE shmem_##NAME##_fetch(                                                 \
      const TYPE* source, int pe) noexcept TERRANE_SHMEM_FETCH_BODY(SHMEM_CTX_DEFAULT, TYPE,       \
                                                                    "shmem_" #NAME "_fetch")       \
      TERRANE_SHMEM_LINKAGE void shmem_##NAME##_set(                                               \
          TYPE* dest, TYPE value, int pe) noexcept TERRANE_SHMEM_SET_BODY(SHMEM_CTX_DEFAULT, TYPE, \
                                                                          "shmem_" #NAME "_set")   \
          TERRANE_SHMEM_LINKAGE TYPE shmem_##NAME##_swap(                                          \
              TYPE* dest, TYPE value,                                                              \
              int pe) noexcept TERRANE_SHMEM_SWAP_BODY(SHMEM_CTX_DEFAULT, TYPE,                    \
                                                       "shmem_" #NAME "_swap")

extern "C" {

TERRANE_SHMEM_STANDARD_AMO_TYPES(STANDARD_NBI, )
TERRANE_SHMEM_EXTENDED_AMO_TYPES(EXTENDED_NBI, )
TERRANE_SHMEM_BITWISE_AMO_TYPES(BITWISE_NBI, )
TERRANE_SHMEM_OLD_AMO_TYPES(OLD_ATOMICS, )
TERRANE_SHMEM_OLD_EXTENDED_AMO_TYPES(OLD_EXTENDED_ATOMICS, )

}  // extern "C"
