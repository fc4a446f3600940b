// Calls that make a descriptor, or move no bytes: on the node that the descriptor belongs to.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::adopt;
using terrane::frontend::call_elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

int dup(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::dup, fd);
  return adopt(next<"dup">(::dup)(fd));
}

int socket(int domain, int type, int protocol) noexcept {
  return adopt(next<"socket">(::socket)(domain, type, protocol));
}

int eventfd(unsigned count, int flags) noexcept {
  return adopt(next<"eventfd">(::eventfd)(count, flags));
}

int epoll_create(int size) noexcept { return adopt(next<"epoll_create">(::epoll_create)(size)); }

int epoll_create1(int flags) noexcept {
  return adopt(next<"epoll_create1">(::epoll_create1)(flags));
}

int timerfd_create(clockid_t clock, int flags) noexcept {
  return adopt(next<"timerfd_create">(::timerfd_create)(clock, flags));
}

int inotify_init1(int flags) noexcept {
  return adopt(next<"inotify_init1">(::inotify_init1)(flags));
}
int inotify_init(void) noexcept { return inotify_init1(0); }

off_t lseek(int fd, off_t offset, int from) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::lseek, fd, offset, from);
  return next<"lseek">(::lseek)(fd, offset, from);
}
off64_t lseek64(int fd, off64_t offset, int from) noexcept { return lseek(fd, offset, from); }

int fsync(int fd) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fsync, fd);
  return next<"fsync">(::fsync)(fd);
}

int fdatasync(int fd) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fdatasync, fd);
  return next<"fdatasync">(::fdatasync)(fd);
}

int ftruncate(int fd, off_t bytes) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ftruncate, fd, bytes);
  return next<"ftruncate">(::ftruncate)(fd, bytes);
}
int ftruncate64(int fd, off64_t bytes) noexcept { return ftruncate(fd, bytes); }

int flock(int fd, int operation) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::flock, fd, operation);
  return next<"flock">(::flock)(fd, operation);
}

int isatty(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::isatty, fd);
  return next<"isatty">(::isatty)(fd);
}

int listen(int fd, int most) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::listen, fd, most);
  return next<"listen">(::listen)(fd, most);
}

int shutdown(int fd, int how) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::shutdown, fd, how);
  return next<"shutdown">(::shutdown)(fd, how);
}

}  // extern "C"
#pragma GCC visibility pop
