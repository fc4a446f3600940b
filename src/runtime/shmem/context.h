#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/shmem/team.h"

namespace terrane::runtime::shmem {

// A communication context: the PEs that its operations count, and whether something is under way
// to other hosts. What goes to PEs in reach is done when the call returns. Any thread; contexts
// share nothing, so threads with a context each never wait for each other here.
struct Context {
  explicit Context(const TeamShape& team) : team(team) {}

  TeamShape team;
  // Since the last quiet something was sent to another host.
  std::atomic<bool> far_work{false};
};

}  // namespace terrane::runtime::shmem
