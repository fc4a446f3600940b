#include "frontend/shmem/process.h"

#include "frontend/shmem/call_place.h"
#include "frontend/shmem/checks.h"
#include "frontend/shmem/lifetime.h"

namespace terrane::frontend::shmem {

using runtime::shmem::JobWorld;

JobWorld* world() noexcept { return Lifetime::of_process().world(); }

JobWorld& world_for(const char* call) noexcept {
  if (JobWorld* one = world()) {
    if (checks_calls()) {
      Lifetime::of_process().check_thread(call);
      one->now_in(call);
    }
    return *one;
  }
  Lifetime::of_process().fail_outside(call);
}

void fail(const char* call, std::string_view what) noexcept {
  Lifetime::of_process().fail(fmt::format("{}: {}{}", call, what, place_of_call()));
}

NodeId pe_of(JobWorld& world, const char* call, int number) noexcept {
  if (number < 0 || static_cast<std::uint32_t>(number) >= world.pes()) {
    fail(call,
         fmt::format("PE {} does not exist; the job has the PEs 0 to {}", number, world.pes() - 1));
  }
  return NodeId{static_cast<std::uint32_t>(number)};
}

}  // namespace terrane::frontend::shmem
