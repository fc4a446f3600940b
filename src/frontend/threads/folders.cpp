// Folders: each is good on the node that has opened it, and a call about it is made there. The
// entries that readdir gives lie in shared memory.
#include <dirent.h>

#include <mutex>
#include <unordered_map>

#include "frontend/threads/copies.h"
#include "frontend/threads/node_memory.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::ForNode;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// The last entry of each folder that this node has open.
struct Entries {
  std::mutex mutex;
  std::unordered_map<DIR*, SharedResult> of;
};
Entries& entries() {
  static auto* one = new Entries();
  return *one;
}

dirent* keep(DIR* dir, dirent* found) {
  if (found == nullptr || !concerns_all_nodes() || !node_memory::contains(dir)) return found;
  Private ours;
  std::lock_guard hold(entries().mutex);
  return entries().of[dir].keep(found);
}

void forget(DIR* dir) {
  if (!concerns_all_nodes()) return;
  Private ours;
  std::lock_guard hold(entries().mutex);
  entries().of.erase(dir);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

DIR* fdopendir(int fd) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fdopendir, fd);
  ForNode memory;
  return next<"fdopendir">(::fdopendir)(fd);
}

dirent* readdir(DIR* dir) {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::readdir, dir);
  return keep(dir, next<"readdir">(::readdir)(dir));
}

static_assert(sizeof(dirent) == sizeof(dirent64));
dirent64* readdir64(DIR* dir) { return reinterpret_cast<dirent64*>(::readdir(dir)); }

int closedir(DIR* dir) {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::closedir, dir);
  forget(dir);
  return next<"closedir">(::closedir)(dir);
}

}  // extern "C"
#pragma GCC visibility pop
