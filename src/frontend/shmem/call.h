#pragma once

#include <shmem.h>
#include <terrane/shmem/bodies.h>

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/contexts.h"
#include "runtime/shmem/operation.h"

namespace terrane::frontend::shmem {

using runtime::shmem::Completion;
using runtime::shmem::copy;
using runtime::shmem::Operation;
using runtime::shmem::SignalUpdate;
using runtime::shmem::Strides;
using runtime::shmem::times;
using runtime::shmem::WordOp;
using runtime::shmem::WordUpdate;

// The context behind a handle, for the function `call`; ends the job where there is none.
ContextObject& context_of(shmem_ctx_t ctx, const char* call) noexcept;

// A call of the long way, for as long as this lives.
struct TimedOperation : Operation {
  TimedOperation(runtime::shmem::World& world, Context& context,
                 const runtime::shmem::CallSite& call)
      : Operation(world, context, call), timed(CallKind::kTransfer, call.name) {}
  Timed timed;
};

// The function `call` that the program made on a context: the long way. Ends the job where it may
// not be made now, or not by this thread.
TimedOperation operation(shmem_ctx_t ctx, const char* call) noexcept;

// Where `bytes` of ours from `address` on lie at PE `pe` of the context's team; nullptr: go the
// long way.
inline std::byte* near_bytes(shmem_ctx_t ctx, const void* address, std::uint64_t bytes, int pe) {
  void* there = terrane_shmem_near(address, terrane_shmem_world_pe(ctx, pe));
  auto here = reinterpret_cast<std::uintptr_t>(address);
  const auto& fast = terrane_shmem_fast;
  bool in_heap = here - fast.heap_base < fast.heap_bytes;
  std::uintptr_t end =
      in_heap ? fast.heap_base + fast.heap_bytes : fast.statics_base + fast.statics_bytes;
  return bytes <= end - here ? static_cast<std::byte*>(there) : nullptr;
}

}  // namespace terrane::frontend::shmem
