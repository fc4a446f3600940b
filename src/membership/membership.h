#pragma once

#include <memory>

#include "base/descriptor_watch.h"
#include "base/result.h"
#include "bootstrap/bootstrap.h"
#include "membership/descriptors.h"

namespace terrane::membership {

// These two live in libterrane_runtime, of which a process has one copy (src/frontend/runtime).
[[gnu::visibility("default")]] base::Result<std::unique_ptr<bootstrap::Bootstrap>> find_place();
[[gnu::visibility("default")]] Descriptors& own_descriptors() noexcept;

// From now on the program cannot close what the calling library owns (membership/descriptors.h). To
// be called before the library opens anything. Any thread; usable before constructors run.
inline void guard_descriptors() noexcept {
  static constexpr base::DescriptorWatch kWatch{
      [](int fd) noexcept { own_descriptors().own(fd); },
      [](int fd) noexcept { own_descriptors().give_up(fd); }};
  base::descriptor_watch.store(&kWatch);
}

// One process is one node of one job, whatever front-ends it uses. The first call finds the job and
// takes the process's place in it; each later one gives another part in the same place. A part is
// what a front-end sees of the launcher: its exchanges are in turn with those of the others, each
// part hears all news, and the launcher learns that the node has left when the last part has.
// All nodes take their parts in the same order, since each comes with exchanges.
//
// Threads: any. Errors: those of Bootstrap::connect(); a child of a process that has a place; a
// process whose only part was given back without leaving, which has lost its place.
inline base::Result<std::unique_ptr<bootstrap::Bootstrap>> join() {
  guard_descriptors();
  return find_place();
}

}  // namespace terrane::membership
