// Calls that make a descriptor, or move no bytes: on the node that the descriptor belongs to.
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <termios.h>
#include <unistd.h>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::adopt;
using terrane::frontend::call_elsewhere;
using terrane::frontend::cancellable;
using terrane::frontend::cancellable_next;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::Out;
using terrane::frontend::OutBytes;

#pragma GCC visibility push(default)
extern "C" {

int pidfd_open(pid_t process, unsigned flags) noexcept;

int dup(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::dup, fd);
  return adopt(next<"dup">(::dup)(fd));
}

int posix_openpt(int flags) { return adopt(next<"posix_openpt">(::posix_openpt)(flags)); }
int getpt(void) { return posix_openpt(O_RDWR); }

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
  if (is_elsewhere(fd)) return cancellable([=] { return call_elsewhere(fd, ::fsync, fd); });
  return cancellable_next<"fsync">(::fsync)(fd);
}

int fdatasync(int fd) {
  if (is_elsewhere(fd)) return cancellable([=] { return call_elsewhere(fd, ::fdatasync, fd); });
  return cancellable_next<"fdatasync">(::fdatasync)(fd);
}

int ftruncate(int fd, off_t bytes) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ftruncate, fd, bytes);
  return next<"ftruncate">(::ftruncate)(fd, bytes);
}
int ftruncate64(int fd, off64_t bytes) noexcept { return ftruncate(fd, bytes); }

int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fallocate, fd, mode, offset, bytes);
  return next<"fallocate">(::fallocate)(fd, mode, offset, bytes);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) {
  return fallocate(fd, mode, offset, bytes);
}

int posix_fallocate(int fd, off_t offset, off_t bytes) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::posix_fallocate, fd, offset, bytes);
  return next<"posix_fallocate">(::posix_fallocate)(fd, offset, bytes);
}
int posix_fallocate64(int fd, off64_t offset, off64_t bytes) {
  return posix_fallocate(fd, offset, bytes);
}

// Advice about a file of another node is left out.
int posix_fadvise(int fd, off_t offset, off_t bytes, int advice) noexcept {
  if (is_elsewhere(fd)) return 0;
  return next<"posix_fadvise">(::posix_fadvise)(fd, offset, bytes, advice);
}
int posix_fadvise64(int fd, off64_t offset, off64_t bytes, int advice) noexcept {
  return posix_fadvise(fd, offset, bytes, advice);
}

int lockf(int fd, int command, off_t bytes) {
  if (is_elsewhere(fd))
    return cancellable([=] { return call_elsewhere(fd, ::lockf, fd, command, bytes); });
  return cancellable_next<"lockf">(::lockf)(fd, command, bytes);
}
int lockf64(int fd, int command, off64_t bytes) { return lockf(fd, command, bytes); }

int fchmod(int fd, mode_t mode) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fchmod, fd, mode);
  return next<"fchmod">(::fchmod)(fd, mode);
}

int fchown(int fd, uid_t user, gid_t group) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fchown, fd, user, group);
  return next<"fchown">(::fchown)(fd, user, group);
}

int syncfs(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::syncfs, fd);
  return next<"syncfs">(::syncfs)(fd);
}

int tcgetattr(int fd, termios* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcgetattr, fd, to);
  return next<"tcgetattr">(::tcgetattr)(fd, to);
}

int tcsetattr(int fd, int when, const termios* from) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcsetattr, fd, when, from);
  return next<"tcsetattr">(::tcsetattr)(fd, when, from);
}

int flock(int fd, int operation) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::flock, fd, operation);
  return next<"flock">(::flock)(fd, operation);
}

int isatty(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::isatty, fd);
  return next<"isatty">(::isatty)(fd);
}

int fstatvfs(int fd, struct statvfs* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fstatvfs, fd, to);
  Out<struct statvfs> own(to);
  return own.done(next<"fstatvfs">(::fstatvfs)(fd, own.get()));
}
int fstatvfs64(int fd, struct statvfs64* to) noexcept {
  return fstatvfs(fd, reinterpret_cast<struct statvfs*>(to));
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

int ptsname_r(int fd, char* to, size_t bytes) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ptsname_r, fd, to, bytes);
  return next<"ptsname_r">(::ptsname_r)(fd, to, bytes);
}

int mq_close(mqd_t queue) noexcept {
  if (is_elsewhere(queue)) return call_elsewhere(queue, ::mq_close, queue);
  return next<"mq_close">(::mq_close)(queue);
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
