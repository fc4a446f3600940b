// Memory ordering: the specification's section "Memory Ordering Routines".
#include "frontend/shmem/call.h"

using terrane::frontend::shmem::operation;

extern "C" {

void shmem_fence() noexcept { operation(SHMEM_CTX_DEFAULT, "shmem_fence").fence(); }

void shmem_ctx_fence(shmem_ctx_t ctx) noexcept { operation(ctx, "shmem_ctx_fence").fence(); }

void shmem_quiet() noexcept { operation(SHMEM_CTX_DEFAULT, "shmem_quiet").quiet(); }

void shmem_ctx_quiet(shmem_ctx_t ctx) noexcept { operation(ctx, "shmem_ctx_quiet").quiet(); }

void shmem_pe_quiet(const int* target_pes, size_t npes) noexcept {
  operation(SHMEM_CTX_DEFAULT, "shmem_pe_quiet").quiet(target_pes, npes);
}

void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* target_pes, size_t npes) noexcept {
  operation(ctx, "shmem_ctx_pe_quiet").quiet(target_pes, npes);
}

}  // extern "C"
