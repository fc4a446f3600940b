/* C++: what C11's generic selection gives C, as overloads. */
#ifndef TERRANE_SHMEM_OVERLOADS_H
#define TERRANE_SHMEM_OVERLOADS_H

#include <terrane/shmem/functions.h>

#define TERRANE_SHMEM_OVERLOAD(RETURNS, GENERIC, NAME, PARAMETERS, ARGUMENTS) \
  inline RETURNS shmem_##GENERIC PARAMETERS noexcept { return shmem_##NAME ARGUMENTS; }
#define TERRANE_SHMEM_OVERLOAD_BOTH(RETURNS, TYPED, OP, PARAMETERS, CTX_PARAMETERS, ARGUMENTS, \
                                    CTX_ARGUMENTS)                                             \
  TERRANE_SHMEM_OVERLOAD(RETURNS, OP, TYPED##_##OP, PARAMETERS, ARGUMENTS)                     \
  TERRANE_SHMEM_OVERLOAD(RETURNS, OP, ctx_##TYPED##_##OP, CTX_PARAMETERS, CTX_ARGUMENTS)

#define TERRANE_SHMEM_OVERLOADS_RMA(D, NAME, TYPE)                                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, put, (TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (dest, source, nelems, pe), (ctx, dest, source, nelems, pe))                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, get, (TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (dest, source, nelems, pe), (ctx, dest, source, nelems, pe))                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, put_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe),               \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (dest, source, nelems, pe), (ctx, dest, source, nelems, pe))                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, get_nbi, (TYPE * dest, const TYPE* source, size_t nelems, int pe),               \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems, int pe),                   \
      (dest, source, nelems, pe), (ctx, dest, source, nelems, pe))                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, iput,                                                                            \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),      \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,             \
       size_t nelems, int pe),                                                                     \
      (dest, source, dst, sst, nelems, pe), (ctx, dest, source, dst, sst, nelems, pe))             \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, iget,                                                                            \
      (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe),      \
      (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,             \
       size_t nelems, int pe),                                                                     \
      (dest, source, dst, sst, nelems, pe), (ctx, dest, source, dst, sst, nelems, pe))             \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, ibput,                                                   \
                              (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,      \
                               size_t bsize, size_t nblocks, int pe),                              \
                              (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst,    \
                               ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),               \
                              (dest, source, dst, sst, bsize, nblocks, pe),                        \
                              (ctx, dest, source, dst, sst, bsize, nblocks, pe))                   \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, ibget,                                                   \
                              (TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst,      \
                               size_t bsize, size_t nblocks, int pe),                              \
                              (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, ptrdiff_t dst,    \
                               ptrdiff_t sst, size_t bsize, size_t nblocks, int pe),               \
                              (dest, source, dst, sst, bsize, nblocks, pe),                        \
                              (ctx, dest, source, dst, sst, bsize, nblocks, pe))                   \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, p, (TYPE * dest, TYPE value, int pe),                    \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                  \
                              (dest, value, pe), (ctx, dest, value, pe))                           \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, g, (const TYPE* source, int pe),                         \
                              (shmem_ctx_t ctx, const TYPE* source, int pe), (source, pe),         \
                              (ctx, source, pe))                                                   \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, put_signal,                                              \
                              (TYPE * dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, \
                               uint64_t signal, int sig_op, int pe),                               \
                              (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems,    \
                               uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),           \
                              (dest, source, nelems, sig_addr, signal, sig_op, pe),                \
                              (ctx, dest, source, nelems, sig_addr, signal, sig_op, pe))           \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, put_signal_nbi,                                          \
                              (TYPE * dest, const TYPE* source, size_t nelems, uint64_t* sig_addr, \
                               uint64_t signal, int sig_op, int pe),                               \
                              (shmem_ctx_t ctx, TYPE * dest, const TYPE* source, size_t nelems,    \
                               uint64_t* sig_addr, uint64_t signal, int sig_op, int pe),           \
                              (dest, source, nelems, sig_addr, signal, sig_op, pe),                \
                              (ctx, dest, source, nelems, sig_addr, signal, sig_op, pe))

#define TERRANE_SHMEM_OVERLOADS_AMO(D, NAME, TYPE)                                                 \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_compare_swap,                                     \
                              (TYPE * dest, TYPE cond, TYPE value, int pe),                        \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE cond, TYPE value, int pe),       \
                              (dest, cond, value, pe), (ctx, dest, cond, value, pe))               \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch_inc, (TYPE * dest, int pe),                 \
                              (shmem_ctx_t ctx, TYPE * dest, int pe), (dest, pe), (ctx, dest, pe)) \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_inc, (TYPE * dest, int pe),                       \
                              (shmem_ctx_t ctx, TYPE * dest, int pe), (dest, pe), (ctx, dest, pe)) \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch_add, (TYPE * dest, TYPE value, int pe),     \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                  \
                              (dest, value, pe), (ctx, dest, value, pe))                           \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_add, (TYPE * dest, TYPE value, int pe),           \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),                  \
                              (dest, value, pe), (ctx, dest, value, pe))                           \
  TERRANE_SHMEM_OVERLOAD_BOTH(                                                                     \
      void, NAME, atomic_compare_swap_nbi,                                                         \
      (TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe),                                  \
      (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe),                 \
      (fetch, dest, cond, value, pe), (ctx, fetch, dest, cond, value, pe))                         \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_inc_nbi,                                    \
                              (TYPE * fetch, TYPE * dest, int pe),                                 \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, int pe),                \
                              (fetch, dest, pe), (ctx, fetch, dest, pe))                           \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_add_nbi,                                    \
                              (TYPE * fetch, TYPE * dest, TYPE value, int pe),                     \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe),    \
                              (fetch, dest, value, pe), (ctx, fetch, dest, value, pe))

#define TERRANE_SHMEM_OVERLOADS_EXTENDED(D, NAME, TYPE)                                         \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch, (const TYPE* source, int pe),           \
                              (shmem_ctx_t ctx, const TYPE* source, int pe), (source, pe),      \
                              (ctx, source, pe))                                                \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_set, (TYPE * dest, TYPE value, int pe),        \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_swap, (TYPE * dest, TYPE value, int pe),       \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_nbi,                                     \
                              (TYPE * fetch, const TYPE* source, int pe),                       \
                              (shmem_ctx_t ctx, TYPE * fetch, const TYPE* source, int pe),      \
                              (fetch, source, pe), (ctx, fetch, source, pe))                    \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_swap_nbi,                                      \
                              (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                              (fetch, dest, value, pe), (ctx, fetch, dest, value, pe))

#define TERRANE_SHMEM_OVERLOADS_BITWISE(D, NAME, TYPE)                                          \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch_and, (TYPE * dest, TYPE value, int pe),  \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_and, (TYPE * dest, TYPE value, int pe),        \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_and_nbi,                                 \
                              (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                              (fetch, dest, value, pe), (ctx, fetch, dest, value, pe))          \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch_or, (TYPE * dest, TYPE value, int pe),   \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_or, (TYPE * dest, TYPE value, int pe),         \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_or_nbi,                                  \
                              (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                              (fetch, dest, value, pe), (ctx, fetch, dest, value, pe))          \
  TERRANE_SHMEM_OVERLOAD_BOTH(TYPE, NAME, atomic_fetch_xor, (TYPE * dest, TYPE value, int pe),  \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_xor, (TYPE * dest, TYPE value, int pe),        \
                              (shmem_ctx_t ctx, TYPE * dest, TYPE value, int pe),               \
                              (dest, value, pe), (ctx, dest, value, pe))                        \
  TERRANE_SHMEM_OVERLOAD_BOTH(void, NAME, atomic_fetch_xor_nbi,                                 \
                              (TYPE * fetch, TYPE * dest, TYPE value, int pe),                  \
                              (shmem_ctx_t ctx, TYPE * fetch, TYPE * dest, TYPE value, int pe), \
                              (fetch, dest, value, pe), (ctx, fetch, dest, value, pe))

#define TERRANE_SHMEM_OVERLOADS_COLLECTIVE(D, NAME, TYPE)                                      \
  TERRANE_SHMEM_OVERLOAD(int, alltoall, NAME##_alltoall,                                       \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),  \
                         (team, dest, source, nelems))                                         \
  TERRANE_SHMEM_OVERLOAD(int, collect, NAME##_collect,                                         \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),  \
                         (team, dest, source, nelems))                                         \
  TERRANE_SHMEM_OVERLOAD(int, fcollect, NAME##_fcollect,                                       \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems),  \
                         (team, dest, source, nelems))                                         \
  TERRANE_SHMEM_OVERLOAD(int, alltoalls, NAME##_alltoalls,                                     \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, ptrdiff_t dst,   \
                          ptrdiff_t sst, size_t nelems),                                       \
                         (team, dest, source, dst, sst, nelems))                               \
  TERRANE_SHMEM_OVERLOAD(                                                                      \
      int, broadcast, NAME##_broadcast,                                                        \
      (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems, int PE_root),        \
      (team, dest, source, nelems, PE_root))                                                   \
  TERRANE_SHMEM_OVERLOAD(int, max_reduce, NAME##_max_reduce,                                   \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                         (team, dest, source, nreduce))                                        \
  TERRANE_SHMEM_OVERLOAD(int, min_reduce, NAME##_min_reduce,                                   \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                         (team, dest, source, nreduce))

#define TERRANE_SHMEM_OVERLOADS_AND(D, NAME, TYPE)                                             \
  TERRANE_SHMEM_OVERLOAD(int, and_reduce, NAME##_and_reduce,                                   \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                         (team, dest, source, nreduce))                                        \
  TERRANE_SHMEM_OVERLOAD(int, or_reduce, NAME##_or_reduce,                                     \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                         (team, dest, source, nreduce))                                        \
  TERRANE_SHMEM_OVERLOAD(int, xor_reduce, NAME##_xor_reduce,                                   \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce), \
                         (team, dest, source, nreduce))

#define TERRANE_SHMEM_OVERLOADS_SUM(D, NAME, TYPE)                                            \
  TERRANE_SHMEM_OVERLOAD(int, sum_reduce, NAME##_sum_reduce,                                  \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                         (team, dest, source, nelems))                                        \
  TERRANE_SHMEM_OVERLOAD(int, prod_reduce, NAME##_prod_reduce,                                \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                         (team, dest, source, nelems))                                        \
  TERRANE_SHMEM_OVERLOAD(int, sum_inscan, NAME##_sum_inscan,                                  \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                         (team, dest, source, nelems))                                        \
  TERRANE_SHMEM_OVERLOAD(int, sum_exscan, NAME##_sum_exscan,                                  \
                         (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems), \
                         (team, dest, source, nelems))

#define TERRANE_SHMEM_OVERLOADS_SYNC_ONE(D, NAME, TYPE)                                  \
  TERRANE_SHMEM_OVERLOAD(void, wait_until, NAME##_wait_until,                            \
                         (TYPE * ivar, int cmp, TYPE cmp_value), (ivar, cmp, cmp_value)) \
  TERRANE_SHMEM_OVERLOAD(int, test, NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value), \
                         (ivar, cmp, cmp_value))

#define TERRANE_SHMEM_OVERLOADS_SYNC_MANY(D, NAME, TYPE)                                           \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      void, wait_until_all, NAME##_wait_until_all,                                                 \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value),                   \
      (ivars, nelems, status, cmp, cmp_value))                                                     \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, wait_until_any, NAME##_wait_until_any,                                               \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value),                   \
      (ivars, nelems, status, cmp, cmp_value))                                                     \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, wait_until_some, NAME##_wait_until_some,                                             \
      (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value), \
      (ivars, nelems, indices, status, cmp, cmp_value))                                            \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      int, test_all, NAME##_test_all,                                                              \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value),                   \
      (ivars, nelems, status, cmp, cmp_value))                                                     \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, test_any, NAME##_test_any,                                                           \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value),                   \
      (ivars, nelems, status, cmp, cmp_value))                                                     \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, test_some, NAME##_test_some,                                                         \
      (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value), \
      (ivars, nelems, indices, status, cmp, cmp_value))                                            \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      void, wait_until_all_vector, NAME##_wait_until_all_vector,                                   \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values),           \
      (ivars, nelems, status, cmp, cmp_values))                                                    \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, wait_until_any_vector, NAME##_wait_until_any_vector,                                 \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values),           \
      (ivars, nelems, status, cmp, cmp_values))                                                    \
  TERRANE_SHMEM_OVERLOAD(size_t, wait_until_some_vector, NAME##_wait_until_some_vector,            \
                         (TYPE * ivars, size_t nelems, size_t * indices, const int* status,        \
                          int cmp, const TYPE* cmp_values),                                        \
                         (ivars, nelems, indices, status, cmp, cmp_values))                        \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      int, test_all_vector, NAME##_test_all_vector,                                                \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values),           \
      (ivars, nelems, status, cmp, cmp_values))                                                    \
  TERRANE_SHMEM_OVERLOAD(                                                                          \
      size_t, test_any_vector, NAME##_test_any_vector,                                             \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values),           \
      (ivars, nelems, status, cmp, cmp_values))                                                    \
  TERRANE_SHMEM_OVERLOAD(size_t, test_some_vector, NAME##_test_some_vector,                        \
                         (TYPE * ivars, size_t nelems, size_t * indices, const int* status,        \
                          int cmp, const TYPE* cmp_values),                                        \
                         (ivars, nelems, indices, status, cmp, cmp_values))

#define TERRANE_SHMEM_OVERLOADS_OLD_AMO(D, NAME, TYPE)                                            \
  TERRANE_SHMEM_OVERLOAD(TYPE, cswap, NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe), \
                         (dest, cond, value, pe))                                                 \
  TERRANE_SHMEM_OVERLOAD(TYPE, finc, NAME##_finc, (TYPE * dest, int pe), (dest, pe))              \
  TERRANE_SHMEM_OVERLOAD(void, inc, NAME##_inc, (TYPE * dest, int pe), (dest, pe))                \
  TERRANE_SHMEM_OVERLOAD(TYPE, fadd, NAME##_fadd, (TYPE * dest, TYPE value, int pe),              \
                         (dest, value, pe))                                                       \
  TERRANE_SHMEM_OVERLOAD(void, add, NAME##_add, (TYPE * dest, TYPE value, int pe),                \
                         (dest, value, pe))

#define TERRANE_SHMEM_OVERLOADS_OLD_EXTENDED(D, NAME, TYPE)                                     \
  TERRANE_SHMEM_OVERLOAD(TYPE, fetch, NAME##_fetch, (const TYPE* source, int pe), (source, pe)) \
  TERRANE_SHMEM_OVERLOAD(void, set, NAME##_set, (TYPE * dest, TYPE value, int pe),              \
                         (dest, value, pe))                                                     \
  TERRANE_SHMEM_OVERLOAD(TYPE, swap, NAME##_swap, (TYPE * dest, TYPE value, int pe),            \
                         (dest, value, pe))

TERRANE_SHMEM_GENERIC_RMA_TYPES(TERRANE_SHMEM_OVERLOADS_RMA, )
TERRANE_SHMEM_GENERIC_AMO_TYPES(TERRANE_SHMEM_OVERLOADS_AMO, )
TERRANE_SHMEM_GENERIC_EXTENDED_TYPES(TERRANE_SHMEM_OVERLOADS_EXTENDED, )
TERRANE_SHMEM_GENERIC_BITWISE_TYPES(TERRANE_SHMEM_OVERLOADS_BITWISE, )
TERRANE_SHMEM_GENERIC_RMA_TYPES(TERRANE_SHMEM_OVERLOADS_COLLECTIVE, )
TERRANE_SHMEM_GENERIC_AND_TYPES(TERRANE_SHMEM_OVERLOADS_AND, )
TERRANE_SHMEM_GENERIC_SUM_TYPES(TERRANE_SHMEM_OVERLOADS_SUM, )
TERRANE_SHMEM_GENERIC_SYNC_TYPES(TERRANE_SHMEM_OVERLOADS_SYNC_ONE, )
TERRANE_SHMEM_GENERIC_AMO_TYPES(TERRANE_SHMEM_OVERLOADS_SYNC_MANY, )
TERRANE_SHMEM_GENERIC_OLD_AMO_TYPES(TERRANE_SHMEM_OVERLOADS_OLD_AMO, )
TERRANE_SHMEM_GENERIC_OLD_EXTENDED_TYPES(TERRANE_SHMEM_OVERLOADS_OLD_EXTENDED, )
TERRANE_SHMEM_OVERLOAD(void, signal_add, ctx_signal_add,
                       (shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe),
                       (ctx, sig_addr, signal, pe))
TERRANE_SHMEM_OVERLOAD(void, signal_set, ctx_signal_set,
                       (shmem_ctx_t ctx, uint64_t* sig_addr, uint64_t signal, int pe),
                       (ctx, sig_addr, signal, pe))
TERRANE_SHMEM_OVERLOAD(int, sync, team_sync, (shmem_team_t team), (team))

#endif
