/* The profiling interface: each function of <shmem.h> under its name with a p in front. A tool that
 * defines shmem_X calls pshmem_X; it compiles with -DSHMEM_NO_INLINE, as do the programs it
 * watches. */
#ifndef TERRANE_PSHMEM_H
#define TERRANE_PSHMEM_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERRANE_SHMEM_DECLARE_P(RETURNS, NAME, PARAMETERS) \
  RETURNS p##NAME PARAMETERS TERRANE_SHMEM_NOEXCEPT;

TERRANE_SHMEM_FUNCTIONS(TERRANE_SHMEM_DECLARE_P)
TERRANE_SHMEM_OLD_FUNCTIONS(TERRANE_SHMEM_DECLARE_P)
__attribute__((noreturn)) TERRANE_SHMEM_EXIT_FUNCTIONS(TERRANE_SHMEM_DECLARE_P)

#ifdef __cplusplus
}
#endif

#endif
