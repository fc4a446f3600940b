#pragma once

#include "runtime/shmem/job_world.h"

namespace terrane::frontend::shmem {

// The World behind the C interface; nullptr before shmem_init, after shmem_finalize, and in a child
// of a PE.
runtime::shmem::JobWorld* world() noexcept;

// The same, for calls that need one. Where there is none the job ends with a sentence that names
// `call`.
runtime::shmem::JobWorld& world_for(const char* call) noexcept;

// Ends the job: "CALL: what".
[[noreturn]] void fail(const char* call, std::string_view what) noexcept;

// The PE `number` of the world; ends the job where there is no such PE.
NodeId pe_of(runtime::shmem::JobWorld& world, const char* call, int number) noexcept;

}  // namespace terrane::frontend::shmem
