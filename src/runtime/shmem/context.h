#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/shmem/team.h"

namespace terrane::runtime::shmem {

// A communication context: the team that its PE numbers refer to, and whether something is under
// way to other hosts. Operations on PEs in reach are complete when the call returns. Any thread may
// call. Contexts share nothing, so threads with a context each do not wait for each other here.
struct Context {
  explicit Context(const TeamShape& team) : team(team) {}

  TeamShape team;
  // Something was sent to another host since the last quiet.
  std::atomic<bool> far_work{false};
};

}  // namespace terrane::runtime::shmem
