#include <shmemx.h> /* deprecated place */
