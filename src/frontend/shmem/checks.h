#pragma once

namespace terrane::frontend::shmem {

// Whether every call takes the long way and is checked: `terrane run --check=shmem`, which sets
// TERRANE_CHECK, or SHMEM_DEBUG in the environment. The same throughout the process's life.
bool checks_calls() noexcept;

}  // namespace terrane::frontend::shmem
