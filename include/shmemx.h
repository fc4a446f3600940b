/* Extensions to OpenSHMEM. There are none. */
#ifndef TERRANE_SHMEMX_H
#define TERRANE_SHMEMX_H

#include <shmem.h>

#endif
