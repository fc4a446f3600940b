// Names that do not begin with shmem_, deprecated in 1.2. They go by the profiling names, so that a
// tool sees the program's call alone.
#include <pshmem.h>

extern "C" {

int _my_pe() noexcept { return pshmem_my_pe(); }
int _num_pes() noexcept { return pshmem_n_pes(); }
void* shmalloc(size_t size) noexcept { return pshmem_malloc(size); }
void shfree(void* ptr) noexcept { pshmem_free(ptr); }
void* shrealloc(void* ptr, size_t size) noexcept { return pshmem_realloc(ptr, size); }
void* shmemalign(size_t alignment, size_t size) noexcept { return pshmem_align(alignment, size); }

}  // extern "C"
