// Locks: the specification's section "Distributed Locking Routines".
#include <shmem.h>

#include "frontend/shmem/call_times.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/lifetime.h"
#include "frontend/shmem/process.h"
#include "runtime/shmem/lock.h"

using terrane::frontend::shmem::CallKind;
using terrane::frontend::shmem::checks_calls;
using terrane::frontend::shmem::Lifetime;
using terrane::frontend::shmem::Timed;
using terrane::frontend::shmem::world_for;

namespace {

// Several threads may use a lock at once, or calls are checked: the PE notes what it holds.
bool notes_holders() {
  return Lifetime::of_process().threads() == SHMEM_THREAD_MULTIPLE || checks_calls();
}

}  // namespace

extern "C" {

void shmem_set_lock(long* lock) noexcept {
  Timed timed(CallKind::kWait, "shmem_set_lock");
  terrane::runtime::shmem::set_lock(world_for("shmem_set_lock"), lock, notes_holders());
}

int shmem_test_lock(long* lock) noexcept {
  Timed timed(CallKind::kWait, "shmem_test_lock");
  return terrane::runtime::shmem::test_lock(world_for("shmem_test_lock"), lock, notes_holders())
             ? 0
             : 1;
}

void shmem_clear_lock(long* lock) noexcept {
  Timed timed(CallKind::kWait, "shmem_clear_lock");
  auto& world = world_for("shmem_clear_lock");
  terrane::runtime::shmem::Reach(world).quiet();
  terrane::runtime::shmem::clear_lock(world, lock, notes_holders());
}

}  // extern "C"
