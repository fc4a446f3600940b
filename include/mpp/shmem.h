#include <shmem.h> /* deprecated place */
