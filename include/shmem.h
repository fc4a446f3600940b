/* OpenSHMEM 1.6 for C and C++. docs/shmem.md tells how to compile and run programs. */
#ifndef TERRANE_SHMEM_H
#define TERRANE_SHMEM_H

#include <terrane/shmem/constants.h>
#include <terrane/shmem/functions.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERRANE_SHMEM_DECLARE(RETURNS, NAME, PARAMETERS) \
  RETURNS NAME PARAMETERS TERRANE_SHMEM_NOEXCEPT;

TERRANE_SHMEM_FUNCTIONS(TERRANE_SHMEM_DECLARE)
TERRANE_SHMEM_OLD_FUNCTIONS(TERRANE_SHMEM_DECLARE)
__attribute__((noreturn)) TERRANE_SHMEM_EXIT_FUNCTIONS(TERRANE_SHMEM_DECLARE)

#ifdef __cplusplus
}
#endif

#ifndef SHMEM_NO_INLINE
#include <terrane/shmem/inline.h>
#endif
#ifdef __cplusplus
#include <terrane/shmem/overloads.h>
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#include <terrane/shmem/generic.h>
#endif

#endif
