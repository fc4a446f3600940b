/* Extensions to OpenSHMEM that programs for other implementations use. */
#ifndef TERRANE_SHMEMX_H
#define TERRANE_SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds since a point in the past that stays the same while the process lives. Any thread, at any
 * time, also before shmem_init. */
double shmemx_wtime(void) TERRANE_SHMEM_NOEXCEPT;

/* Names from before the specification had these functions; each does what its namesake there does:
 * blocked strides, signals, scans, a team of the PEs of a host. */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
#define shmemx_signal_add shmem_signal_add
#define shmemx_signal_set shmem_signal_set
#define shmemx_ibput shmem_ibput
#define shmemx_ibget shmem_ibget
#define shmemx_sum_inscan shmem_sum_inscan
#define shmemx_sum_exscan shmem_sum_exscan
/* A hint of shmem_malloc_with_hints, which waits for all PEs all the same. */
#define SHMEMX_MALLOC_NO_BARRIER 0L

#define TERRANE_SHMEMX_INLINE static __inline __attribute__((__unused__))

#define TERRANE_SHMEMX_BLOCKS(WAY, NAME, TYPE)                                                     \
  TERRANE_SHMEMX_INLINE void shmemx_##NAME##_##WAY(TYPE* dest, const TYPE* source, ptrdiff_t dst,  \
                                                   ptrdiff_t sst, size_t bsize, size_t nblocks,    \
                                                   int pe) {                                       \
    shmem_##NAME##_##WAY(dest, source, dst, sst, bsize, nblocks, pe);                              \
  }                                                                                                \
  TERRANE_SHMEMX_INLINE void shmemx_ctx_##NAME##_##WAY(                                            \
      shmem_ctx_t ctx, TYPE* dest, const TYPE* source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
      size_t nblocks, int pe) {                                                                    \
    shmem_ctx_##NAME##_##WAY(ctx, dest, source, dst, sst, bsize, nblocks, pe);                     \
  }
#define TERRANE_SHMEMX_BOTH_BLOCKS(D, NAME, TYPE) \
  TERRANE_SHMEMX_BLOCKS(ibput, NAME, TYPE) TERRANE_SHMEMX_BLOCKS(ibget, NAME, TYPE)
TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEMX_BOTH_BLOCKS, )

#define TERRANE_SHMEMX_SCANS(D, NAME, TYPE)                                                 \
  TERRANE_SHMEMX_INLINE int shmemx_##NAME##_sum_inscan(shmem_team_t team, TYPE* dest,       \
                                                       const TYPE* source, size_t nelems) { \
    return shmem_##NAME##_sum_inscan(team, dest, source, nelems);                           \
  }                                                                                         \
  TERRANE_SHMEMX_INLINE int shmemx_##NAME##_sum_exscan(shmem_team_t team, TYPE* dest,       \
                                                       const TYPE* source, size_t nelems) { \
    return shmem_##NAME##_sum_exscan(team, dest, source, nelems);                           \
  }
TERRANE_SHMEM_SUM_TYPES(TERRANE_SHMEMX_SCANS, )

/* Non-blocking transfers with a handle, which may be NULL. They are those without one: to wait for
 * one, or to test whether it is done, waits for all of this PE. */
typedef void* shmemx_request_handle_t;
#define TERRANE_SHMEMX_TRANSFER(NAME, TYPE, CALL)                                        \
  TERRANE_SHMEMX_INLINE void NAME(TYPE* dest, const TYPE* source, size_t nelems, int pe, \
                                  shmemx_request_handle_t* handle) {                     \
    CALL(dest, source, nelems, pe);                                                      \
    if (handle != NULL) *handle = NULL;                                                  \
  }
#define TERRANE_SHMEMX_TRANSFERS(D, NAME, TYPE)                                 \
  TERRANE_SHMEMX_TRANSFER(shmemx_##NAME##_put_nb, TYPE, shmem_##NAME##_put_nbi) \
  TERRANE_SHMEMX_TRANSFER(shmemx_##NAME##_get_nb, TYPE, shmem_##NAME##_get_nbi)
#define TERRANE_SHMEMX_TRANSFERS_OF_SIZE(D, BITS)                             \
  TERRANE_SHMEMX_TRANSFER(shmemx_put##BITS##_nb, void, shmem_put##BITS##_nbi) \
  TERRANE_SHMEMX_TRANSFER(shmemx_get##BITS##_nb, void, shmem_get##BITS##_nbi)
TERRANE_SHMEM_RMA_TYPES(TERRANE_SHMEMX_TRANSFERS, )
TERRANE_SHMEM_SIZES(TERRANE_SHMEMX_TRANSFERS_OF_SIZE, )
TERRANE_SHMEMX_TRANSFER(shmemx_putmem_nb, void, shmem_putmem_nbi)
TERRANE_SHMEMX_TRANSFER(shmemx_getmem_nb, void, shmem_getmem_nbi)
TERRANE_SHMEMX_INLINE void shmemx_wait_req(shmemx_request_handle_t handle) {
  (void)handle;
  shmem_quiet();
}
TERRANE_SHMEMX_INLINE void shmemx_test_req(shmemx_request_handle_t handle, int* done) {
  shmemx_wait_req(handle);
  *done = 1;
}

#ifdef __cplusplus
}
#endif

#endif
