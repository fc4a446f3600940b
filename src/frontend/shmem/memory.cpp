// Accessibility and memory: chapters "Library Setup, Exit, and Query Routines" and "Memory
// Management Routines".

#include <shmem.h>

#include "frontend/shmem/process.h"

namespace {

using terrane::frontend::shmem::pe_of;
using terrane::frontend::shmem::world_for;

}  // namespace

extern "C" {

int shmem_pe_accessible(int pe) noexcept {
  auto& world = world_for("shmem_pe_accessible");
  return pe >= 0 && static_cast<std::uint32_t>(pe) < world.pes() ? 1 : 0;
}

int shmem_addr_accessible(const void* address, int pe) noexcept {
  auto& world = world_for("shmem_addr_accessible");
  bool exists = pe >= 0 && static_cast<std::uint32_t>(pe) < world.pes();
  return exists && world.memory().locate(address, 1) ? 1 : 0;
}

void* shmem_ptr(const void* dest, int pe) noexcept {
  auto& world = world_for("shmem_ptr");
  terrane::NodeId there = pe_of(world, "shmem_ptr", pe);
  auto place = world.memory().locate(dest, 1);
  return place ? world.memory().at(there, *place) : nullptr;
}

}  // extern "C"
