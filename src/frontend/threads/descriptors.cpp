// Calls that make a descriptor, or move no bytes: on the node that the descriptor belongs to.
#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::adopt;
using terrane::frontend::call_elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::OutBytes;

#pragma GCC visibility push(default)
extern "C" {

int pidfd_open(pid_t process, unsigned flags) noexcept;

int openpty(int* leader, int* follower, char* name, const termios* shape,
            const winsize* size) noexcept {
  int result = next<"openpty">(::openpty)(leader, follower, name, shape, size);
  if (result != 0) return result;
  *leader = adopt(*leader);
  *follower = adopt(*follower);
  return 0;
}

int pidfd_open(pid_t process, unsigned flags) noexcept {
  return adopt(static_cast<int>(::syscall(SYS_pidfd_open, process, flags)));
}

// Advice about a file of another node is left out.
int posix_fadvise(int fd, off_t offset, off_t bytes, int advice) noexcept {
  if (is_elsewhere(fd)) return 0;
  return next<"posix_fadvise">(::posix_fadvise)(fd, offset, bytes, advice);
}

ssize_t getdents64(int fd, void* to, size_t bytes) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::getdents64, fd, to, bytes);
  OutBytes own(to, bytes);
  ssize_t got = next<"getdents64">(::getdents64)(fd, own.get(), bytes);
  return own.done(got, got < 0 ? 0 : static_cast<size_t>(got));
}

int futimes(int fd, const timeval times[2]) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::futimes, fd, times);
  if (times == nullptr) return ::futimens(fd, nullptr);
  timespec exact[2];
  for (int i = 0; i < 2; ++i) TIMEVAL_TO_TIMESPEC(&times[i], &exact[i]);
  return ::futimens(fd, exact);
}

}  // extern "C"
#pragma GCC visibility pop
