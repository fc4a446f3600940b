/* What the inlined data path of <shmem.h> reads. Not for programs: it changes without notice. */
#ifndef TERRANE_SHMEM_FAST_H
#define TERRANE_SHMEM_FAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory of a PE whose delta this is cannot be reached by loads and stores. */
#define TERRANE_SHMEM_FAR PTRDIFF_MIN

/* Two stretches of symmetric memory here, and how far from ours those of each PE are mapped. Zeros
 * until shmem_init, after shmem_finalize and while every call is to be checked: then no address
 * lies in them, and all calls take the long way. Written by the library alone. */
struct terrane_shmem_fast {
  uintptr_t heap_base;
  uintptr_t heap_bytes;
  const ptrdiff_t* heap_delta; /* by PE */
  uintptr_t statics_base;      /* the program's own data */
  uintptr_t statics_bytes;
  const ptrdiff_t* statics_delta; /* by PE */
  uint32_t pes;
  uint32_t self;
  uint32_t one_host; /* 1: all PEs are in reach, so what a call does is done when it returns */
  /* Programs are linked with the size; room for what later versions add. */
  uint32_t reserved[17];
};
extern __attribute__((visibility("default"))) struct terrane_shmem_fast terrane_shmem_fast;

/* What every context begins with: the PEs of its team. */
struct terrane_shmem_context {
  uint32_t start;
  int32_t stride;
  uint32_t size;
};

#ifdef __cplusplus
}
#endif
#endif
