// The rights and limits of a process whose calls take more than numbers: changed on every node.
#include <grp.h>

#include <algorithm>
#include <cerrno>

#include "frontend/interpose/arguments.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::InBytes;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

int set_groups_here(size_t count, const gid_t* groups) {
  InBytes own(groups, count * sizeof *groups);
  return next<"setgroups">(::setgroups)(count, static_cast<const gid_t*>(own.get()));
}

// The groups lie in shared memory, behind it.
struct Groups : Change {
  std::size_t count;
  gid_t groups[];
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int setgroups(size_t count, const gid_t* groups) noexcept {
  constexpr std::size_t kMost = 65536;
  if (!concerns_all_nodes() || count > kMost) return set_groups_here(count, groups);
  terrane::runtime::Heap& heap = Program::get()->heap();
  auto* change = static_cast<Groups*>(heap.allocate(sizeof(Groups) + count * sizeof *groups));
  if (change == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  change->make = [](Change& made) {
    Groups& own = static_cast<Groups&>(made);
    return set_groups_here(own.count, own.groups) == 0;
  };
  change->count = count;
  std::copy_n(groups, count, change->groups);
  bool done = change_all_nodes("setgroups", *change);
  int error = errno;
  heap.free(change);
  errno = error;
  return done ? 0 : -1;
}

}  // extern "C"
#pragma GCC visibility pop
