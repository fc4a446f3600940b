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

#ifdef __cplusplus
}
#endif

#endif
