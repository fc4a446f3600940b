/* Every function of OpenSHMEM 1.6, once. A list calls D(RETURNS, NAME, (PARAMETERS)) for each of
 * its functions: to declare it, to declare its pshmem_ name, to define that as an alias, to print
 * it. The lists are the sections of the specification; those with a type are called for each type
 * of the list in types.h that belongs to them. */
#ifndef TERRANE_SHMEM_FUNCTIONS_H
#define TERRANE_SHMEM_FUNCTIONS_H

#include <terrane/shmem/constants.h>
#include <terrane/shmem/types.h>

/* Library setup, exit and query; threads; profiling */
#define TERRANE_SHMEM_SETUP_FUNCTIONS(D)                    \
  D(void, shmem_init, (void))                               \
  D(void, shmem_finalize, (void))                           \
  D(int, shmem_my_pe, (void))                               \
  D(int, shmem_n_pes, (void))                               \
  D(int, shmem_pe_accessible, (int pe))                     \
  D(int, shmem_addr_accessible, (const void* addr, int pe)) \
  D(void, shmem_info_get_version, (int* major, int* minor)) \
  D(void, shmem_info_get_name, (char* name))                \
  D(void, shmem_query_initialized, (int* initialized))      \
  D(int, shmem_init_thread, (int requested, int* provided)) \
  D(void, shmem_query_thread, (int* provided))              \
  D(void, shmem_pcontrol, (int level, ...))

/* The one that does not return is declared apart: D has no place for it. */
#define TERRANE_SHMEM_EXIT_FUNCTIONS(D) D(void, shmem_global_exit, (int status))

/* Memory management */
#define TERRANE_SHMEM_MEMORY_FUNCTIONS(D)                      \
  D(void*, shmem_malloc, (size_t size))                        \
  D(void, shmem_free, (void* ptr))                             \
  D(void*, shmem_realloc, (void* ptr, size_t size))            \
  D(void*, shmem_align, (size_t alignment, size_t size))       \
  D(void*, shmem_malloc_with_hints, (size_t size, long hints)) \
  D(void*, shmem_calloc, (size_t count, size_t size))          \
  D(void*, shmem_ptr, (const void* dest, int pe))

/* Teams */
#define TERRANE_SHMEM_TEAM_FUNCTIONS(D)                                                            \
  D(int, shmem_team_my_pe, (shmem_team_t team))                                                    \
  D(int, shmem_team_n_pes, (shmem_team_t team))                                                    \
  D(int, shmem_team_get_config,                                                                    \
    (shmem_team_t team, long config_mask, shmem_team_config_t* config))                            \
  D(int, shmem_team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))     \
  D(int, shmem_team_split_strided,                                                                 \
    (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t* config, \
     long config_mask, shmem_team_t* new_team))                                                    \
  D(int, shmem_team_split_2d,                                                                      \
    (shmem_team_t parent_team, int xrange, const shmem_team_config_t* xaxis_config,                \
     long xaxis_mask, shmem_team_t* xaxis_team, const shmem_team_config_t* yaxis_config,           \
     long yaxis_mask, shmem_team_t* yaxis_team))                                                   \
  D(void, shmem_team_destroy, (shmem_team_t team))                                                 \
  D(void*, shmem_team_ptr, (shmem_team_t team, const void* dest, int pe))

/* Communication contexts and sessions */
#define TERRANE_SHMEM_CONTEXT_FUNCTIONS(D)                                                       \
  D(int, shmem_ctx_create, (long options, shmem_ctx_t* ctx))                                     \
  D(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t* ctx))             \
  D(void, shmem_ctx_destroy, (shmem_ctx_t ctx))                                                  \
  D(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t * team))                             \
  D(void, shmem_ctx_session_start,                                                               \
    (shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long config_mask)) \
  D(void, shmem_ctx_session_stop, (shmem_ctx_t ctx))

/* Memory ordering */
#define TERRANE_SHMEM_ORDERING_FUNCTIONS(D)                     \
  D(void, shmem_fence, (void))                                  \
  D(void, shmem_ctx_fence, (shmem_ctx_t ctx))                   \
  D(void, shmem_quiet, (void))                                  \
  D(void, shmem_ctx_quiet, (shmem_ctx_t ctx))                   \
  D(void, shmem_pe_quiet, (const int* target_pes, size_t npes)) \
  D(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int* target_pes, size_t npes))

/* An operation that takes a context or none: shmem_NAME and shmem_ctx_NAME. */
#define TERRANE_SHMEM_BOTH(D, RETURNS, NAME, ...) \
  D(RETURNS, shmem_##NAME, (__VA_ARGS__))         \
  D(RETURNS, shmem_ctx_##NAME, (shmem_ctx_t ctx, __VA_ARGS__))

/* Remote memory access, of a type */
#define TERRANE_SHMEM_RMA_OF_TYPE(D, NAME, TYPE)                                                 \
  TERRANE_SHMEM_BOTH(D, void, NAME##_put, TYPE* dest, const TYPE* source, size_t nelems, int pe) \
  TERRANE_SHMEM_BOTH(D, void, NAME##_get, TYPE* dest, const TYPE* source, size_t nelems, int pe) \
  TERRANE_SHMEM_BOTH(D, void, NAME##_put_nbi, TYPE* dest, const TYPE* source, size_t nelems,     \
                     int pe)                                                                     \
  TERRANE_SHMEM_BOTH(D, void, NAME##_get_nbi, TYPE* dest, const TYPE* source, size_t nelems,     \
                     int pe)                                                                     \
  TERRANE_SHMEM_BOTH(D, void, NAME##_iput, TYPE* dest, const TYPE* source, ptrdiff_t dst,        \
                     ptrdiff_t sst, size_t nelems, int pe)                                       \
  TERRANE_SHMEM_BOTH(D, void, NAME##_iget, TYPE* dest, const TYPE* source, ptrdiff_t dst,        \
                     ptrdiff_t sst, size_t nelems, int pe)                                       \
  TERRANE_SHMEM_BOTH(D, void, NAME##_ibput, TYPE* dest, const TYPE* source, ptrdiff_t dst,       \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)                        \
  TERRANE_SHMEM_BOTH(D, void, NAME##_ibget, TYPE* dest, const TYPE* source, ptrdiff_t dst,       \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)                        \
  TERRANE_SHMEM_BOTH(D, void, NAME##_p, TYPE* dest, TYPE value, int pe)                          \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_g, const TYPE* source, int pe)

/* Remote memory access, of a size */
#define TERRANE_SHMEM_RMA_OF_SIZE(D, BITS)                                                      \
  TERRANE_SHMEM_BOTH(D, void, put##BITS, void* dest, const void* source, size_t nelems, int pe) \
  TERRANE_SHMEM_BOTH(D, void, get##BITS, void* dest, const void* source, size_t nelems, int pe) \
  TERRANE_SHMEM_BOTH(D, void, put##BITS##_nbi, void* dest, const void* source, size_t nelems,   \
                     int pe)                                                                    \
  TERRANE_SHMEM_BOTH(D, void, get##BITS##_nbi, void* dest, const void* source, size_t nelems,   \
                     int pe)                                                                    \
  TERRANE_SHMEM_BOTH(D, void, iput##BITS, void* dest, const void* source, ptrdiff_t dst,        \
                     ptrdiff_t sst, size_t nelems, int pe)                                      \
  TERRANE_SHMEM_BOTH(D, void, iget##BITS, void* dest, const void* source, ptrdiff_t dst,        \
                     ptrdiff_t sst, size_t nelems, int pe)                                      \
  TERRANE_SHMEM_BOTH(D, void, ibput##BITS, void* dest, const void* source, ptrdiff_t dst,       \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)                       \
  TERRANE_SHMEM_BOTH(D, void, ibget##BITS, void* dest, const void* source, ptrdiff_t dst,       \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)

/* Remote memory access */
#define TERRANE_SHMEM_RMA_FUNCTIONS(D)                                                           \
  TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEM_RMA_OF_TYPE, D)                                          \
  TERRANE_SHMEM_SIZES(TERRANE_SHMEM_RMA_OF_SIZE, D)                                              \
  TERRANE_SHMEM_BOTH(D, void, putmem, void* dest, const void* source, size_t nelems, int pe)     \
  TERRANE_SHMEM_BOTH(D, void, getmem, void* dest, const void* source, size_t nelems, int pe)     \
  TERRANE_SHMEM_BOTH(D, void, putmem_nbi, void* dest, const void* source, size_t nelems, int pe) \
  TERRANE_SHMEM_BOTH(D, void, getmem_nbi, void* dest, const void* source, size_t nelems, int pe)

/* Signals, of a type */
#define TERRANE_SHMEM_SIGNAL_OF_TYPE(D, NAME, TYPE)                                             \
  TERRANE_SHMEM_BOTH(D, void, NAME##_put_signal, TYPE* dest, const TYPE* source, size_t nelems, \
                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)                   \
  TERRANE_SHMEM_BOTH(D, void, NAME##_put_signal_nbi, TYPE* dest, const TYPE* source,            \
                     size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)

/* Signals, of a size */
#define TERRANE_SHMEM_SIGNAL_OF_SIZE(D, BITS)                                                    \
  TERRANE_SHMEM_BOTH(D, void, put##BITS##_signal, void* dest, const void* source, size_t nelems, \
                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)                    \
  TERRANE_SHMEM_BOTH(D, void, put##BITS##_signal_nbi, void* dest, const void* source,            \
                     size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)

/* Signaling operations */
#define TERRANE_SHMEM_SIGNAL_FUNCTIONS(D)                                                       \
  TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEM_SIGNAL_OF_TYPE, D)                                      \
  TERRANE_SHMEM_SIZES(TERRANE_SHMEM_SIGNAL_OF_SIZE, D)                                          \
  TERRANE_SHMEM_BOTH(D, void, putmem_signal, void* dest, const void* source, size_t nelems,     \
                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)                   \
  TERRANE_SHMEM_BOTH(D, void, putmem_signal_nbi, void* dest, const void* source, size_t nelems, \
                     uint64_t* sig_addr, uint64_t signal, int sig_op, int pe)                   \
  TERRANE_SHMEM_BOTH(D, void, signal_add, uint64_t* sig_addr, uint64_t signal, int pe)          \
  TERRANE_SHMEM_BOTH(D, void, signal_set, uint64_t* sig_addr, uint64_t signal, int pe)          \
  D(uint64_t, shmem_signal_fetch, (const uint64_t* sig_addr))

/* Atomic memory operations: standard */
#define TERRANE_SHMEM_STANDARD_AMO_OF_TYPE(D, NAME, TYPE)                                         \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_compare_swap, TYPE* dest, TYPE cond, TYPE value,      \
                     int pe)                                                                      \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch_inc, TYPE* dest, int pe)                        \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_inc, TYPE* dest, int pe)                              \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch_add, TYPE* dest, TYPE value, int pe)            \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_add, TYPE* dest, TYPE value, int pe)                  \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_compare_swap_nbi, TYPE* fetch, TYPE* dest, TYPE cond, \
                     TYPE value, int pe)                                                          \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_inc_nbi, TYPE* fetch, TYPE* dest, int pe)       \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_add_nbi, TYPE* fetch, TYPE* dest, TYPE value,   \
                     int pe)

/* Extended */
#define TERRANE_SHMEM_EXTENDED_AMO_OF_TYPE(D, NAME, TYPE)                                       \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch, const TYPE* source, int pe)                  \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_set, TYPE* dest, TYPE value, int pe)                \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_swap, TYPE* dest, TYPE value, int pe)               \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_nbi, TYPE* fetch, const TYPE* source, int pe) \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_swap_nbi, TYPE* fetch, TYPE* dest, TYPE value, int pe)

/* Bitwise */
#define TERRANE_SHMEM_BITWISE_AMO_OF_TYPE(D, NAME, TYPE)                                        \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch_and, TYPE* dest, TYPE value, int pe)          \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_and, TYPE* dest, TYPE value, int pe)                \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_and_nbi, TYPE* fetch, TYPE* dest, TYPE value, \
                     int pe)                                                                    \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch_or, TYPE* dest, TYPE value, int pe)           \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_or, TYPE* dest, TYPE value, int pe)                 \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_or_nbi, TYPE* fetch, TYPE* dest, TYPE value,  \
                     int pe)                                                                    \
  TERRANE_SHMEM_BOTH(D, TYPE, NAME##_atomic_fetch_xor, TYPE* dest, TYPE value, int pe)          \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_xor, TYPE* dest, TYPE value, int pe)                \
  TERRANE_SHMEM_BOTH(D, void, NAME##_atomic_fetch_xor_nbi, TYPE* fetch, TYPE* dest, TYPE value, \
                     int pe)

/* Atomic memory operations */
#define TERRANE_SHMEM_AMO_FUNCTIONS(D)                                    \
  TERRANE_SHMEM_STANDARD_AMO_TYPES(TERRANE_SHMEM_STANDARD_AMO_OF_TYPE, D) \
  TERRANE_SHMEM_EXTENDED_AMO_TYPES(TERRANE_SHMEM_EXTENDED_AMO_OF_TYPE, D) \
  TERRANE_SHMEM_BITWISE_AMO_TYPES(TERRANE_SHMEM_BITWISE_AMO_OF_TYPE, D)

/* Collectives that move data */
#define TERRANE_SHMEM_COLLECTIVES_OF_TYPE(D, NAME, TYPE)                               \
  D(int, shmem_##NAME##_alltoall,                                                      \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))               \
  D(int, shmem_##NAME##_alltoalls,                                                     \
    (shmem_team_t team, TYPE * dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, \
     size_t nelems))                                                                   \
  D(int, shmem_##NAME##_broadcast,                                                     \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems, int PE_root))  \
  D(int, shmem_##NAME##_collect,                                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))               \
  D(int, shmem_##NAME##_fcollect,                                                      \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))

/* Reductions and scans */
#define TERRANE_SHMEM_AND_OF_TYPE(D, NAME, TYPE)                          \
  D(int, shmem_##NAME##_and_reduce,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce)) \
  D(int, shmem_##NAME##_or_reduce,                                        \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce)) \
  D(int, shmem_##NAME##_xor_reduce,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce))

/*   of types with an order */
#define TERRANE_SHMEM_MAX_OF_TYPE(D, NAME, TYPE)                          \
  D(int, shmem_##NAME##_max_reduce,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce)) \
  D(int, shmem_##NAME##_min_reduce,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce))

/*   of types that can be added */
#define TERRANE_SHMEM_SUM_OF_TYPE(D, NAME, TYPE)                          \
  D(int, shmem_##NAME##_sum_reduce,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce)) \
  D(int, shmem_##NAME##_prod_reduce,                                      \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nreduce)) \
  D(int, shmem_##NAME##_sum_inscan,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))  \
  D(int, shmem_##NAME##_sum_exscan,                                       \
    (shmem_team_t team, TYPE * dest, const TYPE* source, size_t nelems))

/* Collective routines of teams */
#define TERRANE_SHMEM_COLLECTIVE_FUNCTIONS(D)                                                   \
  TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEM_COLLECTIVES_OF_TYPE, D)                                 \
  D(int, shmem_alltoallmem, (shmem_team_t team, void* dest, const void* source, size_t nelems)) \
  D(int, shmem_alltoallsmem,                                                                    \
    (shmem_team_t team, void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst,           \
     size_t nelems))                                                                            \
  D(int, shmem_broadcastmem,                                                                    \
    (shmem_team_t team, void* dest, const void* source, size_t nelems, int PE_root))            \
  D(int, shmem_collectmem, (shmem_team_t team, void* dest, const void* source, size_t nelems))  \
  D(int, shmem_fcollectmem, (shmem_team_t team, void* dest, const void* source, size_t nelems)) \
  TERRANE_SHMEM_AND_TYPES(TERRANE_SHMEM_AND_OF_TYPE, D)                                         \
  TERRANE_SHMEM_MAX_TYPES(TERRANE_SHMEM_MAX_OF_TYPE, D)                                         \
  TERRANE_SHMEM_SUM_TYPES(TERRANE_SHMEM_SUM_OF_TYPE, D)

/* Barriers */
#define TERRANE_SHMEM_BARRIER_FUNCTIONS(D) \
  D(void, shmem_barrier_all, (void))       \
  D(void, shmem_sync_all, (void))          \
  D(int, shmem_team_sync, (shmem_team_t team))

/* Point-to-point synchronisation: on one variable */
#define TERRANE_SHMEM_SYNC_ONE_OF_TYPE(D, NAME, TYPE)                        \
  D(void, shmem_##NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value)) \
  D(int, shmem_##NAME##_test, (TYPE * ivar, int cmp, TYPE cmp_value))

/* On many */
#define TERRANE_SHMEM_SYNC_MANY_OF_TYPE(D, NAME, TYPE)                                           \
  D(void, shmem_##NAME##_wait_until_all,                                                         \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                   \
  D(size_t, shmem_##NAME##_wait_until_any,                                                       \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                   \
  D(size_t, shmem_##NAME##_wait_until_some,                                                      \
    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value)) \
  D(int, shmem_##NAME##_test_all,                                                                \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                   \
  D(size_t, shmem_##NAME##_test_any,                                                             \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value))                   \
  D(size_t, shmem_##NAME##_test_some,                                                            \
    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp, TYPE cmp_value)) \
  D(void, shmem_##NAME##_wait_until_all_vector,                                                  \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))           \
  D(size_t, shmem_##NAME##_wait_until_any_vector,                                                \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))           \
  D(size_t, shmem_##NAME##_wait_until_some_vector,                                               \
    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,                  \
     const TYPE* cmp_values))                                                                    \
  D(int, shmem_##NAME##_test_all_vector,                                                         \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))           \
  D(size_t, shmem_##NAME##_test_any_vector,                                                      \
    (TYPE * ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values))           \
  D(size_t, shmem_##NAME##_test_some_vector,                                                     \
    (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,                  \
     const TYPE* cmp_values))

/* Point-to-point synchronisation */
#define TERRANE_SHMEM_SYNC_FUNCTIONS(D)                                \
  TERRANE_SHMEM_STANDARD_AMO_TYPES(TERRANE_SHMEM_SYNC_ONE_OF_TYPE, D)  \
  TERRANE_SHMEM_STANDARD_AMO_TYPES(TERRANE_SHMEM_SYNC_MANY_OF_TYPE, D) \
  D(uint64_t, shmem_signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))

/* Distributed locks */
#define TERRANE_SHMEM_LOCK_FUNCTIONS(D)   \
  D(void, shmem_set_lock, (long* lock))   \
  D(void, shmem_clear_lock, (long* lock)) \
  D(int, shmem_test_lock, (long* lock))

/* ---- Deprecated: names of before 1.6 that programs still use ---- */

/* Old names of setup and query */
#define TERRANE_SHMEM_OLD_SETUP_FUNCTIONS(D) \
  D(void, start_pes, (int npes))             \
  D(int, _my_pe, (void))                     \
  D(int, _num_pes, (void))

/* Old names of memory management */
#define TERRANE_SHMEM_OLD_MEMORY_FUNCTIONS(D)   \
  D(void*, shmalloc, (size_t size))             \
  D(void, shfree, (void* ptr))                  \
  D(void*, shrealloc, (void* ptr, size_t size)) \
  D(void*, shmemalign, (size_t alignment, size_t size))

/* Caches, which are coherent: no effect (until 1.4) */
#define TERRANE_SHMEM_OLD_CACHE_FUNCTIONS(D)        \
  D(void, shmem_clear_cache_inv, (void))            \
  D(void, shmem_set_cache_inv, (void))              \
  D(void, shmem_clear_cache_line_inv, (void* dest)) \
  D(void, shmem_set_cache_line_inv, (void* dest))   \
  D(void, shmem_udcflush, (void))                   \
  D(void, shmem_udcflush_line, (void* dest))

/* Atomic operations under their old names */
#define TERRANE_SHMEM_OLD_AMO_OF_TYPE(D, NAME, TYPE)                          \
  D(TYPE, shmem_##NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value, int pe)) \
  D(TYPE, shmem_##NAME##_finc, (TYPE * dest, int pe))                         \
  D(void, shmem_##NAME##_inc, (TYPE * dest, int pe))                          \
  D(TYPE, shmem_##NAME##_fadd, (TYPE * dest, TYPE value, int pe))             \
  D(void, shmem_##NAME##_add, (TYPE * dest, TYPE value, int pe))

/*   and of more types */
#define TERRANE_SHMEM_OLD_EXTENDED_AMO_OF_TYPE(D, NAME, TYPE)    \
  D(TYPE, shmem_##NAME##_fetch, (const TYPE* source, int pe))    \
  D(void, shmem_##NAME##_set, (TYPE * dest, TYPE value, int pe)) \
  D(TYPE, shmem_##NAME##_swap, (TYPE * dest, TYPE value, int pe))

/* Old atomic operations */
#define TERRANE_SHMEM_OLD_AMO_FUNCTIONS(D)                      \
  TERRANE_SHMEM_OLD_AMO_TYPES(TERRANE_SHMEM_OLD_AMO_OF_TYPE, D) \
  TERRANE_SHMEM_OLD_EXTENDED_AMO_TYPES(TERRANE_SHMEM_OLD_EXTENDED_AMO_OF_TYPE, D)

/* Waiting for a change */
#define TERRANE_SHMEM_OLD_WAIT_OF_TYPE(D, NAME, TYPE) \
  D(void, shmem_##NAME##_wait, (TYPE * ivar, TYPE cmp_value))

/* Old waits */
#define TERRANE_SHMEM_OLD_SYNC_FUNCTIONS(D)                         \
  TERRANE_SHMEM_OLD_WAIT_TYPES(TERRANE_SHMEM_OLD_WAIT_OF_TYPE, D)   \
  TERRANE_SHMEM_SHORT_SYNC_TYPES(TERRANE_SHMEM_SYNC_ONE_OF_TYPE, D) \
  D(void, shmem_wait, (long* ivar, long cmp_value))                 \
  D(void, shmem_wait_until, (long* ivar, int cmp, long cmp_value))

/* Active sets, of a size */
#define TERRANE_SHMEM_ACTIVE_SET_OF_SIZE(D, BITS)                                                \
  D(void, shmem_alltoall##BITS,                                                                  \
    (void* dest, const void* source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
     long* pSync))                                                                               \
  D(void, shmem_alltoalls##BITS,                                                                 \
    (void* dest, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start,  \
     int logPE_stride, int PE_size, long* pSync))                                                \
  D(void, shmem_broadcast##BITS,                                                                 \
    (void* dest, const void* source, size_t nelems, int PE_root, int PE_start, int logPE_stride, \
     int PE_size, long* pSync))                                                                  \
  D(void, shmem_collect##BITS,                                                                   \
    (void* dest, const void* source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
     long* pSync))                                                                               \
  D(void, shmem_fcollect##BITS,                                                                  \
    (void* dest, const void* source, size_t nelems, int PE_start, int logPE_stride, int PE_size, \
     long* pSync))

/* Reductions over active sets */
#define TERRANE_SHMEM_TO_ALL_AND_OF_TYPE(D, NAME, TYPE)                                         \
  D(void, shmem_##NAME##_and_to_all,                                                            \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))                                                                  \
  D(void, shmem_##NAME##_or_to_all,                                                             \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))                                                                  \
  D(void, shmem_##NAME##_xor_to_all,                                                            \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))

/*   of types with an order */
#define TERRANE_SHMEM_TO_ALL_MAX_OF_TYPE(D, NAME, TYPE)                                         \
  D(void, shmem_##NAME##_max_to_all,                                                            \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))                                                                  \
  D(void, shmem_##NAME##_min_to_all,                                                            \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))

/*   of types that can be added */
#define TERRANE_SHMEM_TO_ALL_SUM_OF_TYPE(D, NAME, TYPE)                                         \
  D(void, shmem_##NAME##_sum_to_all,                                                            \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))                                                                  \
  D(void, shmem_##NAME##_prod_to_all,                                                           \
    (TYPE * dest, const TYPE* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
     TYPE* pWrk, long* pSync))

/* Collective routines of active sets */
#define TERRANE_SHMEM_ACTIVE_SET_FUNCTIONS(D)                                        \
  D(void, shmem_barrier, (int PE_start, int logPE_stride, int PE_size, long* pSync)) \
  D(void, shmem_sync, (int PE_start, int logPE_stride, int PE_size, long* pSync))    \
  TERRANE_SHMEM_ACTIVE_SET_OF_SIZE(D, 32)                                            \
  TERRANE_SHMEM_ACTIVE_SET_OF_SIZE(D, 64)                                            \
  TERRANE_SHMEM_TO_ALL_AND_TYPES(TERRANE_SHMEM_TO_ALL_AND_OF_TYPE, D)                \
  TERRANE_SHMEM_TO_ALL_MAX_TYPES(TERRANE_SHMEM_TO_ALL_MAX_OF_TYPE, D)                \
  TERRANE_SHMEM_TO_ALL_SUM_TYPES(TERRANE_SHMEM_TO_ALL_SUM_OF_TYPE, D)

/* All of 1.6 */
#define TERRANE_SHMEM_FUNCTIONS(D)      \
  TERRANE_SHMEM_SETUP_FUNCTIONS(D)      \
  TERRANE_SHMEM_MEMORY_FUNCTIONS(D)     \
  TERRANE_SHMEM_TEAM_FUNCTIONS(D)       \
  TERRANE_SHMEM_CONTEXT_FUNCTIONS(D)    \
  TERRANE_SHMEM_ORDERING_FUNCTIONS(D)   \
  TERRANE_SHMEM_RMA_FUNCTIONS(D)        \
  TERRANE_SHMEM_SIGNAL_FUNCTIONS(D)     \
  TERRANE_SHMEM_AMO_FUNCTIONS(D)        \
  TERRANE_SHMEM_COLLECTIVE_FUNCTIONS(D) \
  TERRANE_SHMEM_BARRIER_FUNCTIONS(D)    \
  TERRANE_SHMEM_SYNC_FUNCTIONS(D)       \
  TERRANE_SHMEM_LOCK_FUNCTIONS(D)

/* All that are deprecated */
#define TERRANE_SHMEM_OLD_FUNCTIONS(D)  \
  TERRANE_SHMEM_OLD_SETUP_FUNCTIONS(D)  \
  TERRANE_SHMEM_OLD_MEMORY_FUNCTIONS(D) \
  TERRANE_SHMEM_OLD_CACHE_FUNCTIONS(D)  \
  TERRANE_SHMEM_OLD_AMO_FUNCTIONS(D)    \
  TERRANE_SHMEM_OLD_SYNC_FUNCTIONS(D)   \
  TERRANE_SHMEM_ACTIVE_SET_FUNCTIONS(D)

#endif
