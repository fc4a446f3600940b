// What compilers call in place of these functions where _FORTIFY_SOURCE is set: the size of the
// program's buffer is checked, and then the plain function is ours; and the forms of stat(2) that
// programs use which were linked before glibc 2.33.
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "frontend/interpose/arguments.h"

extern "C" [[noreturn]] void __chk_fail() noexcept;

namespace {

void check(bool fits) {
  if (!fits) __chk_fail();
}

bool items_fit(std::size_t room, std::size_t size, std::size_t count) {
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(size, count, &bytes) && bytes <= room;
}

// The mode is missing where the flags ask for a new file.
int without_mode(int flags) {
  check((flags & O_CREAT) == 0 && (flags & O_TMPFILE) != O_TMPFILE);
  return flags;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t __read_chk(int fd, void* to, size_t bytes, size_t room) {
  check(bytes <= room);
  return read(fd, to, bytes);
}

ssize_t __pread_chk(int fd, void* to, size_t bytes, off_t offset, size_t room) {
  check(bytes <= room);
  return pread(fd, to, bytes, offset);
}

ssize_t __pread64_chk(int fd, void* to, size_t bytes, off64_t offset, size_t room) {
  check(bytes <= room);
  return pread(fd, to, bytes, offset);
}

ssize_t __recv_chk(int fd, void* to, size_t bytes, size_t room, int flags) {
  check(bytes <= room);
  return recv(fd, to, bytes, flags);
}

ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t room, int flags, sockaddr* address,
                       socklen_t* size) {
  check(bytes <= room);
  return recvfrom(fd, to, bytes, flags, address, size);
}

size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  check(items_fit(room, size, count));
  return fread(to, size, count, stream);
}

size_t __fread_unlocked_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  check(items_fit(room, size, count));
  return fread_unlocked(to, size, count, stream);
}

ssize_t __readlink_chk(const char* path, char* to, size_t bytes, size_t room) {
  check(bytes <= room);
  return readlink(path, to, bytes);
}

ssize_t __readlinkat_chk(int folder, const char* path, char* to, size_t bytes, size_t room) {
  check(bytes <= room);
  return readlinkat(folder, path, to, bytes);
}

char* __getcwd_chk(char* to, size_t bytes, size_t room) {
  check(bytes <= room);
  return getcwd(to, bytes);
}

char* __realpath_chk(const char* path, char* resolved, size_t room) {
  check(room >= PATH_MAX);
  return realpath(path, resolved);
}

int __getgroups_chk(int count, gid_t* to, size_t room) {
  check(count < 0 || items_fit(room, sizeof *to, static_cast<std::size_t>(count)));
  return getgroups(count, to);
}

int __ttyname_r_chk(int fd, char* to, size_t bytes, size_t room) {
  check(bytes <= room);
  return ttyname_r(fd, to, bytes);
}

int __poll_chk(pollfd* list, nfds_t count, int timeout_ms, size_t room) {
  check(items_fit(room, sizeof *list, count));
  return poll(list, count, timeout_ms);
}

int __ppoll_chk(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* mask,
                size_t room) {
  check(items_fit(room, sizeof *list, count));
  return ppoll(list, count, timeout, mask);
}

int __open_2(const char* path, int flags) { return open(path, without_mode(flags)); }
int __open64_2(const char* path, int flags) { return open64(path, without_mode(flags)); }
int __openat_2(int folder, const char* path, int flags) {
  return openat(folder, path, without_mode(flags));
}
int __openat64_2(int folder, const char* path, int flags) {
  return openat64(folder, path, without_mode(flags));
}

mqd_t __mq_open_2(const char* name, int flags) {
  check((flags & O_CREAT) == 0);
  return mq_open(name, flags);
}

int __xstat(int, const char* path, struct stat* to) { return stat(path, to); }
int __xstat64(int, const char* path, struct stat64* to) { return stat64(path, to); }
int __lxstat(int, const char* path, struct stat* to) { return lstat(path, to); }
int __lxstat64(int, const char* path, struct stat64* to) { return lstat64(path, to); }
int __fxstat(int, int fd, struct stat* to) { return fstat(fd, to); }
int __fxstat64(int, int fd, struct stat64* to) { return fstat64(fd, to); }
int __fxstatat(int, int folder, const char* path, struct stat* to, int flags) {
  return fstatat(folder, path, to, flags);
}
int __fxstatat64(int, int folder, const char* path, struct stat64* to, int flags) {
  return fstatat64(folder, path, to, flags);
}

}  // extern "C"
#pragma GCC visibility pop
