// Semaphores with names: the C library's lie in memory of a node. They are node 0's, where every
// thread waits for them; the program sees an address at which no other node has memory.
#include <fcntl.h>
#include <semaphore.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdarg>
#include <mutex>

#include "frontend/interpose/arguments.h"
#include "frontend/threads/copies.h"
#include "frontend/threads/node_memory.h"

using terrane::frontend::call_on;
using terrane::frontend::InPath;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// One that is open. On node 0 they are in a list: who opens it again gets the same.
struct Named {
  sem_t* own;
  unsigned opened;  // so often
  Named* next;
};
Named* all = nullptr;
std::mutex mutex;

// nullptr: there is no memory.
Named* named_of(sem_t* own) {
  std::lock_guard hold(mutex);
  for (Named* one = all; one != nullptr; one = one->next) {
    if (one->own != own) continue;
    ++one->opened;
    return one;
  }
  auto* made = static_cast<Named*>(node_memory::allocate(sizeof(Named)));
  if (made == nullptr) return nullptr;
  *made = {own, 1, all};
  return all = made;
}

void closed(Named* named) {
  std::lock_guard hold(mutex);
  if (--named->opened != 0) return;
  Named** link = &all;
  while (*link != named) link = &(*link)->next;
  *link = named->next;
  node_memory::free(named);
}

sem_t* open_named(const char* name, int flags, mode_t mode, unsigned value) {
  if (is_for_node_0()) return call_on(0, open_named, name, flags, mode, value);
  InPath own_name(name);
  auto open = +[](const char* path, int how, mode_t rights, unsigned first) {
    return next<"sem_open">(::sem_open)(path, how, rights, first);
  };
  sem_t* own = in_library(open, own_name.get(), flags, mode, value);
  if (own == SEM_FAILED) return own;
  Named* named = named_of(own);
  if (named != nullptr) return reinterpret_cast<sem_t*>(named);
  errno = ENOMEM;
  return SEM_FAILED;
}

}  // namespace

namespace terrane::frontend::threads {

sem_t* own_semaphore(sem_t* semaphore) {
  return node_memory::contains(semaphore) ? reinterpret_cast<Named*>(semaphore)->own : semaphore;
}

}  // namespace terrane::frontend::threads

#pragma GCC visibility push(default)
extern "C" {

sem_t* sem_open(const char* name, int flags, ...) noexcept {
  va_list more;
  va_start(more, flags);
  bool creates = (flags & O_CREAT) != 0;
  mode_t mode = creates ? va_arg(more, mode_t) : 0;
  unsigned value = creates ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (!concerns_all_nodes()) return next<"sem_open">(::sem_open)(name, flags, mode, value);
  return open_named(name, flags, mode, value);
}

int sem_close(sem_t* semaphore) noexcept {
  auto* call = next<"sem_close">(::sem_close);
  if (!node_memory::contains(semaphore)) return call(semaphore);
  if (is_for_node_0()) return call_on(0, ::sem_close, semaphore);
  int result = call(own_semaphore(semaphore));
  closed(reinterpret_cast<Named*>(semaphore));
  return result;
}

int sem_unlink(const char* name) noexcept {
  if (is_for_node_0()) return call_on(0, ::sem_unlink, name);
  InPath own_name(name);
  return on_private_stack<"sem_unlink">(::sem_unlink, own_name.get());
}

}  // extern "C"
#pragma GCC visibility pop
