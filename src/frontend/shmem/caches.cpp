// Cache control, deprecated in 1.3: memory is coherent, so there is nothing to do.
#include <shmem.h>

extern "C" {

void shmem_clear_cache_inv() noexcept {}
void shmem_set_cache_inv() noexcept {}
void shmem_clear_cache_line_inv(void*) noexcept {}
void shmem_set_cache_line_inv(void*) noexcept {}
void shmem_udcflush() noexcept {}
void shmem_udcflush_line(void*) noexcept {}

}  // extern "C"
