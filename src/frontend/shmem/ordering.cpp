// Memory ordering: the specification's section "Memory Ordering Routines".
#include "frontend/shmem/call.h"
#include "frontend/shmem/process.h"

using terrane::frontend::shmem::Operation;
using terrane::frontend::shmem::operation;
using terrane::frontend::shmem::world_for;

namespace {

// Ends the job where it is not.
bool is_initialised(const char* call) {
  world_for(call);
  return true;
}

// On one host nothing is under way: only this thread's stores have to be in order, or done. An
// invalid context has nothing under way anywhere.
void fence(shmem_ctx_t ctx, const char* call) {
  if (terrane_shmem_fast.one_host != 0) return Operation::order_stores();
  if (ctx == SHMEM_CTX_INVALID && is_initialised(call)) return;
  operation(ctx, call).fence();
}

void quiet(shmem_ctx_t ctx, const char* call) {
  if (terrane_shmem_fast.one_host != 0) return Operation::finish_stores();
  if (ctx == SHMEM_CTX_INVALID && is_initialised(call)) return;
  operation(ctx, call).quiet();
}

}  // namespace

extern "C" {

void shmem_fence() noexcept { fence(SHMEM_CTX_DEFAULT, "shmem_fence"); }

void shmem_ctx_fence(shmem_ctx_t ctx) noexcept { fence(ctx, "shmem_ctx_fence"); }

void shmem_quiet() noexcept { quiet(SHMEM_CTX_DEFAULT, "shmem_quiet"); }

void shmem_ctx_quiet(shmem_ctx_t ctx) noexcept { quiet(ctx, "shmem_ctx_quiet"); }

void shmem_pe_quiet(const int* target_pes, size_t npes) noexcept {
  operation(SHMEM_CTX_DEFAULT, "shmem_pe_quiet").quiet(target_pes, npes);
}

void shmem_ctx_pe_quiet(shmem_ctx_t ctx, const int* target_pes, size_t npes) noexcept {
  constexpr const char* kCall = "shmem_ctx_pe_quiet";
  if (ctx == SHMEM_CTX_INVALID && is_initialised(kCall)) return;
  operation(ctx, kCall).quiet(target_pes, npes);
}

}  // extern "C"
