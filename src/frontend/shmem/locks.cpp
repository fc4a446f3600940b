// Locks: the specification's section "Distributed Locking Routines".
#include <shmem.h>

#include "frontend/shmem/process.h"
#include "runtime/shmem/lock.h"

using terrane::frontend::shmem::world_for;

extern "C" {

void shmem_set_lock(long* lock) noexcept {
  terrane::runtime::shmem::set_lock(world_for("shmem_set_lock"), lock);
}

int shmem_test_lock(long* lock) noexcept {
  return terrane::runtime::shmem::test_lock(world_for("shmem_test_lock"), lock) ? 0 : 1;
}

void shmem_clear_lock(long* lock) noexcept {
  auto& world = world_for("shmem_clear_lock");
  terrane::runtime::shmem::Reach(world).quiet();
  terrane::runtime::shmem::clear_lock(world, lock);
}

}  // extern "C"
